import { execFile } from 'node:child_process'

/** What a host should know before it shows the tools of a server to a model: findings that the reviewed contract does not have. */
export function findChanges(target) {
  const args = ['reelay', 'contract', 'check', 'calculator.contract.yaml', ...target, '--json']
  return new Promise((resolve, reject) => {
    execFile('npx', args, (error, stdout, stderr) => {
      if (stdout === '') return reject(new Error(stderr, { cause: error }))
      resolve(JSON.parse(stdout).findings.map(({ level, rule }) => `${level} ${rule}`))
    })
  })
}
