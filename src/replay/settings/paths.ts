import type { Setting } from '../../config/setting.ts'
import { parsePath } from '../../json/path.ts'

/** Paths in an answer; one that cannot be read is refused here, where its place is known. */
export function readPaths(setting: Setting): readonly string[] {
  return setting.items().map((item) =>
    item.as(() => {
      parsePath(item.text())
      return item.text()
    }),
  )
}
