/** Whether this runs unattended, by the environment variable that every CI sets. */
export function isCi(env: NodeJS.ProcessEnv = process.env): boolean {
  return !['', 'false', '0'].includes(env['CI'] ?? '')
}
