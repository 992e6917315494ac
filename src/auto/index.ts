// Loaded by `node --import reelay/auto`. A process without a switch must not be slowed down, so nothing else is loaded then.
if (Object.keys(process.env).some((name) => /^(REELAY|MCPORTER)_(RECORD|REPLAY)/.test(name))) {
  const { install } = await import('./install.ts')
  install(process.env)
}
