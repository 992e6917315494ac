import type { ReplayTarget } from '../replay/options.ts'
import { LiveClient, type LiveClientOptions } from '../replay/session/live-client.ts'
import { SURFACE_LISTS, SurfaceBuilder, type AskingClient, type ServerSurface } from './surface.ts'

/**
 * Asks a live server what it offers. Only lists are asked for: no tool is called. With `asker`, the server is asked by a client that introduces
 * itself like that one, because servers offer other things to other clients.
 */
export async function liveSurface(
  target: ReplayTarget,
  options: LiveClientOptions & { readonly asker?: AskingClient },
): Promise<ServerSurface> {
  const { asker, ...rest } = options
  const client = await LiveClient.open(target, { ...rest, ...(asker && { introduction: asker }) })
  try {
    const builder = new SurfaceBuilder()
    if (asker !== undefined) builder.openedBy(asker)
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
