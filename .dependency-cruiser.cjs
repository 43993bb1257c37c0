// Boundaries of the design: who may import whom. `npm run boundaries` holds them.
const services = ['command', 'github', 'maintenance', 'query', 'runner', 'gateway', 'codehost']
const drivers = {
  '@eventstore/db-client': 'services/platform/eventstore',
  mongodb: 'services/platform/(engines|readstore|blobs|vault|leases|recentKeys)',
  nats: 'services/platform/(bus|jobs)',
  '@photostructure/sqlite': 'services/platform/engines/sqlite.ts',
  '@octokit/rest': 'services/platform/codehost',
  'prom-client': 'services/platform/telemetry/metrics.ts',
  '@opentelemetry': 'services/platform/telemetry/otlp.ts',
  '@octokit/webhooks': 'services/(platform/codehost|gateway)',
}
const adapters =
  '^services/platform/((eventstore|readstore|bus|jobs|blobs|vault|leases|recentKeys|codehost)/|engines/mongo)'
// What the client may import as values: no schemas, and nothing that needs them.
const plainDomain =
  '^domain/((agents|agentKeys|figures)\\.ts|(agents|api|history|kernel|views)/.*\\.ts|(proof/auditBundle|project/(settings|issueRule)|task/(modelRetry|questionOptions|shells|slashCommands|codeHost/(cleanUpState|feedbackRule)))\\.ts)'
const schemas = '\\.schema\\.ts$'
// What checks an audit bundle in the browser is a worker of its own, which is loaded with a file to check.
const verifier = '^web/src/verifier/'
// A test stands beside what it tests and may reach what it needs.
const notTests = '\\.test\\.tsx?$'

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'domain-is-pure',
      severity: 'error',
      from: { path: '^domain/', pathNot: notTests },
      to: { pathNot: ['^domain/', '^node_modules/zod/'] },
    },
    // The client holds no schemas: they would bring the schema library into its bundle. It imports their types alone.
    {
      name: 'web-not-to-schemas',
      severity: 'error',
      from: { path: '^web/src/', pathNot: [notTests, verifier] },
      to: { path: ['\\.schema\\.ts$', '^node_modules/zod/'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'web-only-to-the-plain-domain',
      severity: 'error',
      from: { path: '^web/src/', pathNot: [notTests, verifier] },
      to: { path: '^domain/', pathNot: plainDomain, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'plain-domain-without-schemas',
      severity: 'error',
      from: { path: plainDomain, pathNot: [schemas, notTests] },
      to: {
        path: ['^domain/', '^node_modules/zod/'],
        pathNot: [plainDomain + '(?<!\\.schema\\.ts)$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'web-not-to-services',
      severity: 'error',
      from: { path: '^web/', pathNot: notTests },
      to: { path: '^services/' },
    },
    {
      name: 'web-ui-only-to-ui',
      severity: 'error',
      from: { path: '^web/src/ui/', pathNot: notTests },
      to: { path: '^web/src/', pathNot: '^web/src/ui/' },
    },
    {
      name: 'web-shared-not-to-a-feature',
      severity: 'error',
      from: { path: '^web/src/(state|api|live|actions)/', pathNot: notTests },
      to: { path: '^web/src/(features|app)/' },
    },
    {
      name: 'web-features-not-to-the-shell',
      severity: 'error',
      from: { path: '^web/src/features/', pathNot: notTests },
      to: { path: '^web/src/app/' },
    },
    ...services.map((service) => ({
      name: `${service}-not-to-a-sibling`,
      severity: 'error',
      from: { path: `^services/${service}/`, pathNot: notTests },
      to: { path: `^services/(${services.filter((other) => other !== service).join('|')})/` },
    })),
    {
      name: 'platform-not-to-a-service',
      severity: 'error',
      from: { path: '^services/platform/', pathNot: notTests },
      to: { path: `^services/(${services.join('|')})/` },
    },
    {
      name: 'adapters-only-by-compose',
      severity: 'error',
      from: { path: '^services/', pathNot: [adapters, '^services/platform/compose\\.ts$', notTests] },
      to: { path: adapters },
    },
    {
      name: 'environment-only-in-config',
      severity: 'error',
      from: { path: '^(services|domain|web)/', pathNot: '^services/(main|platform/config/config)\\.ts$' },
      to: { path: '^(node:)?process$' },
    },
    ...Object.entries(drivers).map(([driver, home]) => ({
      name: `driver-${driver.replace(/\W/g, '')}-in-its-adapter`,
      severity: 'error',
      from: { path: '^(domain|services|web)/', pathNot: `^${home}` },
      to: { path: `^node_modules/${driver}/` },
    })),
    {
      name: 'spec-client-knows-nothing-of-the-product',
      severity: 'error',
      from: { path: '^tests/client/specClient\\.ts$' },
      to: { pathNot: ['^node_modules/(zod|socket\\.io-client|vitest)/'] },
    },
    {
      name: 'production-not-to-tests',
      severity: 'error',
      from: { path: '^(domain|services|web)/', pathNot: notTests },
      to: { path: '^tests/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|data)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tests/tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
