/** The environment of everything that a test run starts. It is put together here, so that no key or setting of the shell reaches a test. */

const passedOn = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'CI', 'NODE_OPTIONS']

/**
 * @param {NodeJS.ProcessEnv} shell
 * @param {string} notes the file in which tests note what they ran against
 * @returns {NodeJS.ProcessEnv}
 */
export function testEnvironment(shell, notes) {
  const allowed = Object.entries(shell).filter(
    ([name]) => passedOn.includes(name) || name.startsWith('REQUIRE_'),
  )
  return { ...Object.fromEntries(allowed), FLIGHTDECK_TEST_NOTES: notes }
}

/**
 * Variables that installers need: the paths of programs, their own settings, proxies and certificates. The product's secrets have other names, with
 * few exceptions.
 */
const forInstallers =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|CI|NO_COLOR|XDG_\w+|(https?|no|all|ftp)_proxy|npm_config_\w+|NODE_(OPTIONS|EXTRA_CA_CERTS|USE_SYSTEM_CA)|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|GIT_SSL_CAINFO|APT_CONFIG|DEBIAN_\w+|DEBCONF_\w+|NPM_TOKEN|NODE_AUTH_TOKEN)$/i

/**
 * The environment of npm and apt, whose packages bring scripts of others. It contains nothing of the product's own, above all no keys.
 * @param {NodeJS.ProcessEnv} shell
 * @returns {NodeJS.ProcessEnv}
 */
export function installEnvironment(shell) {
  return Object.fromEntries(Object.entries(shell).filter(([name]) => forInstallers.test(name)))
}

/**
 * The environment in which Go builds: that of installers, and Go's own settings.
 * @param {NodeJS.ProcessEnv} shell
 * @returns {NodeJS.ProcessEnv}
 */
export function goEnvironment(shell) {
  const own = Object.entries(shell).filter(([name]) => /^(GO[A-Z0-9]*|CGO_\w+)$/.test(name))
  return { ...installEnvironment(shell), ...Object.fromEntries(own) }
}
