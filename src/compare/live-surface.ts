import type { ReplayTarget } from '../replay/options.ts'
import { LiveClient, type LiveClientOptions } from '../replay/session/live-client.ts'
import { SURFACE_LISTS, SurfaceBuilder, type ServerSurface } from './surface.ts'

/** Asks a live server what it offers. Only lists are asked for: no tool is called. */
export async function liveSurface(target: ReplayTarget, options: LiveClientOptions): Promise<ServerSurface> {
  const client = await LiveClient.open(target, options)
  try {
    const builder = new SurfaceBuilder()
    builder.add(client.revision.openingMethod, client.opening)
    // A server may have the capability and lack one of its lists, most often the one of templates.
    for (const { method, capability } of SURFACE_LISTS)
      if (client.offers(capability))
        for (const result of await client.listPages(method)) builder.add(method, result)
    return builder.surface()
  } finally {
    await client.close()
  }
}
