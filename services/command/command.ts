/** The command service: serves the writes of the API. */
import type { Middleware } from 'koa'
import { commandsFrom } from '#platform/commands/causation.ts'
import { serializeByKey } from '#platform/async/queue.ts'
import { mount, type Mounting, type Route } from '#platform/http/route.ts'
import { admission, type AdmissionOptions } from '#platform/commands/admission.ts'
import { commandRoutes } from './routes/routes.ts'
import type { CommandServices } from './services.ts'

/** The services that the command routes use, as far as the engines provide them. */
export type CommandEngines = Omit<
  CommandServices,
  'admission' | 'agents' | 'models' | 'publicUrl' | 'serialized'
> &
  Pick<AdmissionOptions, 'ballast'>

/** The middleware that serves the writes of the API, below `/api`. */
export function commandApi(
  engines: CommandEngines,
  {
    tasksAtOnce,
    agents,
    models,
    publicUrl,
  }: { readonly tasksAtOnce: number } & Pick<CommandServices, 'agents' | 'models' | 'publicUrl'>,
  mounting: Mounting,
): Middleware {
  const services: CommandServices = {
    ...engines,
    agents,
    models,
    publicUrl,
    admission: admission({ ...engines, tasksAtOnce }),
    serialized: serializeByKey(),
  }
  return mount('/api', commandRoutes.map(fromRequest), services, mounting)
}

/** The route with the request's id as correlation id of all events that the route causes. */
function fromRequest({ serve, ...route }: Route<CommandServices>): Route<CommandServices> {
  return {
    ...route,
    serve: (request, services, ...rest) =>
      serve(
        request,
        { ...services, commands: commandsFrom(services.commands, { correlationId: request.requestId }) },
        ...rest,
      ),
  }
}
