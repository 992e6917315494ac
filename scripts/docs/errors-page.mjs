/** docs/reference/errors.md. */
export function errorsPage(codes) {
  return `${[INTRO, ...EXITS.map((exit) => section(exit, codes))].join('\n\n')}\n`
}

const EXITS = [
  [1, 'differences, misses or failed checks'],
  [2, 'usage errors'],
  [3, 'could not run'],
]

const INTRO = `# Errors

<!-- Made by \`npm run docs\` from src/errors.ts. Do not edit by hand. -->

Every error of Reelay has one of these codes:

\`\`\`console
$ reelay inspect nope
reelay: TAPE_NOT_FOUND there is no tape at /home/ada/.reelay/tapes/nope.tape.jsonl
  hint: \`reelay list\` shows the tapes that have a name; refer to any other tape by its path
\`\`\`

- Errors are printed on stderr as \`reelay: CODE message\`. A hint may follow on the next line.
- In the library, the code is the \`code\` of a \`ReelayError\`.
- \`REELAY_DEBUG=1\` adds the stack trace.

| Exit code | Meaning                              |
| --------- | ------------------------------------ |
| 0         | success                              |
| 1         | differences, misses or failed checks |
| 2         | usage error                          |
| 3         | could not run                        |
| 130       | interrupted                          |

\`reelay record\` and \`reelay run\` end with the exit code of the command that they ran.`

function section([exit, meaning], codesByName) {
  const codes = Object.entries(codesByName).filter(([, entry]) => entry.exit === exit)
  const items = codes.map(([code, { about }]) => `- \`${code}\`: ${about}`)
  return [`## Exit code ${exit}: ${meaning}`, '', ...items].join('\n')
}
