// The catalogue: every scene is a short session with one kind of answer, and the changes that are seeded into it.
import { conversationScenes } from './conversations.mjs'
import { documentScenes } from './documents.mjs'
import { errorScenes } from './errors.mjs'
import { formatScenes } from './formats.mjs'
import { formScenes } from './forms.mjs'
import { idScenes } from './ids.mjs'
import { listingScenes } from './listings.mjs'
import { platformScenes } from './platforms.mjs'
import { serviceScenes } from './services.mjs'
import { structuredScenes } from './structured.mjs'
import { textScenes } from './texts.mjs'
import { unusualScenes } from './unusual.mjs'
import { volatileScene } from './volatile.mjs'

export const SCENES = [
  ...structuredScenes,
  ...textScenes,
  ...idScenes,
  ...errorScenes,
  ...listingScenes,
  ...conversationScenes,
  ...unusualScenes,
  ...formScenes,
  ...documentScenes,
  ...formatScenes,
  ...serviceScenes,
  ...platformScenes,
]

export function sceneOf(name) {
  const found = [...SCENES, volatileScene].find((scene) => scene.name === name)
  if (found === undefined) throw new Error(`there is no scene "${name}"`)
  return found
}
