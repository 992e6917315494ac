import { ReelayError } from '../errors.ts'

/** `host:port`, `[address]:port` or a port alone. */
export function readListen(text: string): { host: string; port: number } {
  const found = /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text)
  const port = Number(found?.[3])
  if (found === null || port > 65_535)
    throw new ReelayError('USAGE', `--listen ${text} is not of the form host:port`, {
      hint: 'for example --listen 127.0.0.1:8080; port 0 takes a free one',
    })
  return { host: found[1] ?? found[2] ?? '127.0.0.1', port }
}
