import { join } from 'node:path'
import { callTool } from '../support/sdk.ts'
import type { SdkSession } from '../support/sdk-session.ts'
import type { Results } from './account.ts'

/** Reads, writes, edits and moves files in a folder that holds `notes.txt`, and is refused what lies outside of it. */
export async function filesystemSession({ client, hears }: SdkSession, folder: string): Promise<Results> {
  await hears('roots/list')
  const notes = join(folder, 'notes.txt')
  const poem = join(folder, 'poem.txt')
  const call = (name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    callTool(client, name, args)
  const steady = [
    await client.listTools(),
    await call('list_allowed_directories'),
    await call('write_file', { path: poem, content: 'rosa\nmundi\n' }),
    await Promise.all([
      call('read_text_file', { path: notes }),
      call('read_text_file', { path: poem, head: 1 }),
      call('list_directory', { path: folder }),
      call('directory_tree', { path: folder }),
      call('search_files', { path: folder, pattern: '*.txt' }),
    ]),
    await call('edit_file', { path: poem, edits: [{ oldText: 'mundi', newText: 'růže' }] }),
    await call('read_text_file', { path: poem }),
    await call('move_file', { source: poem, destination: join(folder, 'rose.txt') }),
    await call('read_text_file', { path: poem }),
    await call('read_multiple_files', { paths: [notes, join(folder, 'rose.txt')] }),
    await call('read_text_file', { path: '/etc/hostname' }),
    await client.ping(),
  ]
  return { steady, fresh: await call('get_file_info', { path: notes }), progress: [] }
}
