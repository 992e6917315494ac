export { ERROR_CODES, ReelayError } from './errors.ts'
export type { ErrorCode, ErrorDetails } from './errors.ts'
export { VERSION } from './version.ts'

// Tapes: find them, read them.
export { resolveTape, tapeFolder } from './store/home.ts'
export { listTapes } from './store/file/list.ts'
export type { TapeSummary } from './store/file/list.ts'
export { loadTape, openTape } from './store/file/read.ts'
export { openIndexedTape } from './store/index/indexed-tape.ts'
export type { IndexedTape, OpenIndexedOptions } from './store/index/indexed-tape.ts'
export type { Tape, TapeReader } from './store/file/read.ts'
export type { TapeProblem } from './store/file/frame-reader.ts'
export type {
  CutMessage,
  EventFrame,
  Frame,
  HeaderList,
  HttpFrame,
  MessageFrame,
  OtherFrame,
  RawFrame,
  RecordedRequestHead,
  RecordedResponseHead,
  SseFields,
  StderrFrame,
} from './tape/frame.ts'
export type { TapeHeader, TapeServer } from './tape/header.ts'
export type { TapeLabelOptions, TapeLabels } from './tape/header.ts'
export type { RecordedMessage, TurnStep, Turn } from './tape/turns.ts'
export type { Turns } from './tape/turns.ts'

// Record.
export { Recorder } from './record/stdio/recorder.ts'
export type { RecorderOptions, RecordingResult } from './record/stdio/recorder.ts'
export type { RedactOption } from './record/redaction.ts'
export { createRecording } from './record/recording.ts'
export type { RecordedLinkOptions, Recording, RecordingOptions } from './record/recording.ts'
export type { MessageRecorder } from './record/recording.ts'
export type { RecordingSummary } from './record/tape-log.ts'
export type { RecordingLimits } from './record/tape-log.ts'
export type { RecordingRules } from './record/tape-log.ts'
export type { AnyTransport } from './link/sdk-transport.ts'
export { recordFetch } from './record/in-process/record-fetch.ts'
export type { AnyFetch, RecordFetchOptions } from './record/in-process/record-fetch.ts'
export { recordTransport } from './record/in-process/record-transport.ts'
export type { RecordTransportOptions } from './record/in-process/record-transport.ts'
export { recordHttp } from './record/http/record-url.ts'
export type { HttpRecording, RecordHttpOptions } from './record/http/record-url.ts'

// Play the server.
export { RecordingIndex } from './match/recording-index.ts'
export type { RecordedAnswer } from './match/recording-index.ts'
export type { MatcherOptions } from './match/matcher.ts'
export type { MatchOutcome } from './match/matcher.ts'
export type { RecordedRequest } from './match/request-groups.ts'
export { MISS_CODE, missAsError } from './match/miss/report.ts'
export type { MissError } from './match/miss/report.ts'
export { missAsText } from './match/miss/report.ts'
export type { Miss } from './match/miss/miss.ts'
export type { MissReason } from './match/miss/reasons.ts'
export type { Fix } from './match/miss/fixes.ts'
export type { MatchOptions } from './match/options.ts'
export { serveStdio } from './serve/serve-stdio.ts'
export type { ServeStdioOptions } from './serve/serve-stdio.ts'
export { serveHttp } from './serve/http/serve-http.ts'
export type { ServedEndpoint, ServedHttp, ServeHttpOptions } from './serve/http/serve-http.ts'
export { replayTransport } from './serve/replay-transport.ts'
export type { ReplayTransport, ReplayTransportOptions } from './serve/replay-transport.ts'
export type { PlayableTape } from './serve/playable-tape.ts'
export type { Drift } from './serve/drift.ts'
export { leftOverCauses } from './serve/drift.ts'
export type { LeftOverCause } from './serve/drift.ts'
export { tapeTransport } from './testing/tape-transport.ts'
export type { TapeTransportOptions } from './testing/tape-transport.ts'
export { ReplaySession } from './serve/session/replay-session.ts'
export type { ReplaySessionOptions } from './serve/session/replay-session.ts'
export { ServerError } from './serve/session/session-client.ts'
export type { SyncSession } from './serve/session/session-calls.ts'
export type { FaultSetting } from './faults/fault-rules.ts'
export type { Override } from './serve/overrides.ts'

// Play the client.
export { replay } from './replay/replay.ts'
export type { Replay } from './replay/replay.ts'
export { load } from './load/load.ts'
export type { LoadInterval, LoadOptions, LoadResult, LoadTape } from './load/load.ts'
export type { CallStatistics, LoadTotals } from './load/measurements.ts'
export { namedShape, parseStages } from './load/shape.ts'
export type { LoadShape } from './load/shape.ts'
export { preview } from './replay/preview.ts'
export type { ScheduledMessage } from './replay/preview.ts'
export type { PendingCall, RunState } from './replay/steps/run-totals.ts'
export type { ReplayOptions, ReplayTarget } from './replay/options.ts'
export { replayRepeatedly } from './replay/repeat/repeat.ts'
export type { RepeatOptions } from './replay/repeat/repeat.ts'
export { learnNoise } from './replay/noise/learn-noise.ts'
export type { LearnedProfile, LearnOptions } from './replay/noise/learn-noise.ts'
export { readNoiseProfile, writeNoiseProfile } from './replay/noise/profile-file.ts'
export type { StoredNoiseProfile } from './replay/noise/profile-file.ts'
export type { NoiseProfile } from './replay/noise/noise-profile.ts'
export type { RepeatedReport } from './replay/repeat/repeated-report.ts'
export type { ReplayReport, ReplayVerdict } from './replay/report.ts'
export type { ReplayStep, StepState, StepFinding, Layer } from './replay/steps/step.ts'
export type { StepList } from './replay/steps/step-log.ts'
export type { ValidationRule } from './replay/judge/comparison-rules.ts'
export type { TransformRule } from './replay/transform/rule.ts'
export { ReplayController } from './replay/control/controller.ts'
export type { Stop } from './replay/control/stops.ts'
export { readCommand } from './replay/control/commands.ts'
export type {
  Breakpoint,
  BreakpointSpec,
  ControllerCommand,
  ControllerEvent,
  DoneEvent,
  ExtraMessageEvent,
  MessageEdit,
  MessageOutline,
  MessageView,
  RunStatus,
  SeekTarget,
  ShownBinding,
  StatusEvent,
  StepUnit,
  StoppedEvent,
  StopPhase,
  StopReason,
} from './replay/control/commands.ts'
export { tapeBindings } from './replay/values/tape-bindings.ts'
export type { TapeBindingsOptions } from './replay/values/tape-bindings.ts'
export { liveSecrets } from './replay/session/live-secrets.ts'
export type { LiveSecrets, SecretSources } from './replay/session/live-secrets.ts'
export { commandTarget, sseTarget, transportTarget, urlTarget } from './replay/targets.ts'

// Read the recordings of other tools, and write for other tools.
export { registerFormat } from './convert/register-format.ts'
export type { CustomFormat } from './convert/register-format.ts'
export type { ImportedFrame, ImportedRecording } from './convert/import/import-format.ts'
export type { ImportSource } from './convert/import/import-source.ts'
export type { ExportedTape, Losses } from './convert/export/export-format.ts'
export { exportTape } from './convert/export-tape.ts'
export type { ExportTapeOptions } from './convert/export-tape.ts'
export type { WrittenExport } from './convert/export/index.ts'
export { importTape } from './convert/import-tape.ts'
export type { ImportedTape, ImportRecord, ImportTapeOptions } from './convert/import-tape.ts'

// JSON-RPC as it travels.
export { canonicalJson } from './json/canonical.ts'
export { classifyMessage } from './protocol/message.ts'
export type { Message, Notification, Request, Response } from './protocol/message.ts'

// Compare tapes and keep contracts.
export { checkContract } from './compare/check-contract.ts'
export type { ContractCheck, ContractSummary } from './compare/check-contract.ts'
export { contractFromTapes, readContract, serversOnTape, writeContract } from './compare/contract-file.ts'
export type { AcceptedFinding, Contract, ContractRecords, ContractServer } from './compare/contract-file.ts'
export type { RecordedValue } from './compare/schema-changes.ts'
export type { ServerSurface } from './compare/surface.ts'
export { compareSchemas } from './schemas/compatibility.ts'
export type { CompareSchemasOptions, SchemaVerdict } from './schemas/compatibility.ts'
export type { ObservedShape } from './schemas/observed-shape.ts'
export { diffTapes } from './compare/diff-tapes.ts'
export type {
  ComparedTape,
  ExchangeChange,
  TapeDiff,
  TapeDiffOptions,
  TapeDiffSummary,
} from './compare/diff-tapes.ts'
export { COMPARE_RULES } from './compare/rules.ts'
export type { CompareRule, CompareRuleId, Finding, FindingLevel } from './compare/rules.ts'
export type { FoldedCounts, FoldedReason } from './compare/exchange-changes.ts'
export type { LatencyChange, LatencyFigures, LatencyLimits } from './compare/latency.ts'
