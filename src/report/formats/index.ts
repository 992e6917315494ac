import { agentFormat } from './agent.ts'
import { githubFormat, gitlabFormat, tapFormat } from './annotations.ts'
import { ctrfFormat } from './ctrf.ts'
import type { DocumentFormat } from './format.ts'
import { junitFormat } from './junit.ts'
import { markdownFormat } from './markdown.ts'
import { ndjsonFormat } from './ndjson.ts'
import { sarifFormat } from './sarif.ts'

/** The formats of every command that judges. */
export const DOCUMENT_FORMATS: readonly DocumentFormat[] = [
  agentFormat,
  ndjsonFormat,
  markdownFormat,
  junitFormat,
  sarifFormat,
  ctrfFormat,
  githubFormat,
  gitlabFormat,
  tapFormat,
]
