import { ReelayError } from '../errors.ts'

/** `host:port`, `[address]:port` or a port alone, as the value of an option. */
export function readListenAddress(text: string, option = '--listen'): { host: string; port: number } {
  const found = /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text)
  const port = Number(found?.[3])
  if (found === null || port > 65_535)
    throw new ReelayError('USAGE', `${option} ${text} is not of the form host:port`, {
      hint: `for example ${option} 127.0.0.1:8080; port 0 takes a free one`,
    })
  return { host: found[1] ?? found[2] ?? '127.0.0.1', port }
}

/** Reads the value of an option that may stand without one, and so may have taken the tape for it. */
export function listenOptionReader(option: string): (text: string) => ReturnType<typeof readListenAddress> {
  return (text) => {
    try {
      return readListenAddress(text, option)
    } catch (error) {
      if (!(error instanceof ReelayError)) throw error
      const hint = `${error.hint}; a tape goes before it: reelay serve my-tape ${option}`
      throw new ReelayError(error.code, error.message, { hint, cause: error })
    }
  }
}
