import { execFileSync } from 'node:child_process'

/** Tests run the built program, so a lone `npx vitest` builds first; the gate has already done so. */
export default function buildOnce(): void {
  if (process.env['REELAY_BUILT'] === '1') return
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
}
