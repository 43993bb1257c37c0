/** The command service: decides writes, and creates the jobs that follow from them. */
import type { Middleware } from 'koa'
import { commandsFrom } from '#platform/commands/causation.ts'
import { serializeByKey } from '#platform/async/queue.ts'
import { mount, type Mounting, type Route } from '#platform/http/route.ts'
import { admission, type AdmissionOptions } from '#platform/commands/admission.ts'
import { commandRoutes } from './routes/routes.ts'
import type { CommandServices } from './services.ts'

/** The services that the command routes need and that the engines provide. */
export type CommandEngines = Omit<
  CommandServices,
  'admission' | 'agents' | 'models' | 'publicUrl' | 'serialized'
> &
  Pick<AdmissionOptions, 'ballast'>

/** The writes of the API, below `/api`. The caller has authenticated the request. */
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

/** Adds the id of the request to everything that a route causes. */
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
