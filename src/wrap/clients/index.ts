import type { WrappableClient } from './client.ts'
import { claudeCode } from './claude-code.ts'
import { claudeDesktop } from './claude-desktop.ts'
import { codex } from './codex.ts'
import { cursor } from './cursor.ts'
import { gemini } from './gemini.ts'
import { vscode } from './vscode.ts'
import { zed } from './zed.ts'

/** Every client that `wrap` supports. */
export const WRAPPABLE_CLIENTS: readonly WrappableClient[] = [
  claudeDesktop,
  claudeCode,
  cursor,
  vscode,
  codex,
  gemini,
  zed,
]
