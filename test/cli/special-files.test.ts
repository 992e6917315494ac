import { execFileSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTape } from '../../src/store/file/read.ts'
import { temporaryFolder } from '../support/recorder.ts'

test.skipIf(process.platform === 'win32')(
  'a pipe, a socket or a device is refused without being opened',
  async () => {
    const folder = temporaryFolder()
    const pipe = join(folder, 'pipe')
    execFileSync('sh', ['-c', 'mkfifo "$0"', pipe])
    await expect(openTape(pipe)).rejects.toMatchObject({ code: 'TAPE_UNREADABLE' })
    const socket = join(folder, 's')
    const server = createServer()
    await new Promise<void>((resolve) => {
      server.listen(socket, resolve)
    })
    await expect(openTape(socket)).rejects.toMatchObject({ code: 'TAPE_UNREADABLE' })
    server.close()
    await expect(openTape('/dev/zero')).rejects.toMatchObject({ code: 'TAPE_UNREADABLE' })
  },
)
