/** A project's settings of its environment: they control the project's own commands, and nothing with more rights than those. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { setProjectSecret, updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { executeTask } from '#domain/api/tasks.schema.ts'
import { hasEnded, openScene, type Scene } from '../server/scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene([{ when: /^Begin/, turns: [{ text: 'It has begun.' }] }])
})
afterAll(() => scene?.close())

/** By which a program of the host was made to load a module of the workspace, and others of their kind. */
const reserved: Readonly<Record<string, string>> = {
  LANGUAGE: '../../../workspace/l',
  GCONV_PATH: '/workspace/g',
  LC_ALL: 'en_US.UTF-8',
  LC_MESSAGES: 'en_US.UTF-8',
  LANG: 'en_US.UTF-8',
  LOCPATH: '/workspace/l',
  NLSPATH: '/workspace/%N',
  GLIBC_TUNABLES: 'glibc.malloc.check=1',
  MALLOC_CHECK_: '3',
  LD_PRELOAD: '/workspace/evil.so',
  LD_LIBRARY_PATH: '/workspace',
  LD_AUDIT: '/workspace/evil.so',
  BASH_ENV: '/workspace/env.sh',
  ENV: '/workspace/env.sh',
  PROMPT_COMMAND: 'touch /workspace/prompted',
  Path: '/workspace/bin',
  NODE_OPTIONS: '--require=/workspace/evil.cjs',
  GIT_SSH_COMMAND: '/workspace/evil',
  GIT_EXEC_PATH: '/workspace/git',
  GIT_CONFIG_GLOBAL: '/workspace/gitconfig',
  // As a program that does not ask about case would read it.
  Ld_Preload: '/workspace/evil.so',
}
const sentence = 'This name is reserved.'

/** A module that says who loads it, with which rights. */
const plant = [
  'mkdir -p p',
  `cat > p/Steer.pm <<'END'
package Steer;
BEGIN {
  open my $log, '>>', '/workspace/steered' or die;
  open my $own, '<', '/proc/self/status';
  my %is = map { /^(Uid|CapEff|CapBnd|NoNewPrivs):\\s+(\\S+)/ ? ($1, $2) : () } <$own>;
  open my $line, '<', '/proc/self/cmdline';
  my $command = join ' ', split /\\0/, do { local $/; <$line> };
  print $log join("\\t", $is{Uid}, $is{CapEff}, $is{CapBnd}, $is{NoNewPrivs}, $command), "\\n";
}
1;
END`,
].join('\n')

/** Nothing of these is reserved: the project's own programs may need them. */
const steering = [
  { name: 'PERL5LIB', value: '/workspace/p' },
  { name: 'PERL5OPT', value: '-MSteer' },
  { name: 'PERL_UNICODE', value: 'SDA' },
  { name: 'NODE_V8_COVERAGE', value: '/workspace/coverage' },
  { name: 'NODE_REDIRECT_WARNINGS', value: '/workspace/warnings' },
  { name: 'OPENSSL_CONF', value: '/workspace/openssl.cnf' },
]

describe('finding 1: the variables of a project', () => {
  test.each(Object.entries(reserved))(
    'finding 1: %s is refused, as a variable and as a secret',
    async (name, value) => {
      const { ada, projectId } = scene
      const variable = await ada.refused(updateProjectSettings, {
        params: { projectId },
        body: { variables: [{ name, value }] },
      })
      expect(variable).toMatchObject({ status: 400, field: 'variables.0.name', error: sentence })
      const secret = await ada.refused(setProjectSecret, {
        params: { projectId, name },
        body: { value: `${value}-as-a-secret`, forAgent: true },
      })
      expect(secret).toMatchObject({ status: 400, field: 'name', error: sentence })
    },
  )

  test.each(['/workspace/bin', './bin:/tmp', '~/bin/../../../usr', ''])(
    'finding 1: PATH adds folders below the workspace and the home alone, and not %j',
    async (value) => {
      const { ada, projectId } = scene
      const variable = await ada.refused(updateProjectSettings, {
        params: { projectId },
        body: { variables: [{ name: 'PATH', value }] },
      })
      expect(variable).toMatchObject({ status: 400, field: 'variables.0.value' })
      const secret = await ada.refused(setProjectSecret, {
        params: { projectId, name: 'PATH' },
        body: { value: './bin-as-a-secret' },
      })
      expect(secret).toMatchObject({ status: 400, field: 'name', error: sentence })
    },
  )

  // Holds findings 1.4.
  test('finding 1: those that are taken steer the command itself, and nothing that starts it', async () => {
    const { ada, projectId, product } = scene
    const { id } = await ada.task(projectId, 'Begin')
    await ada.taskOnce(id, hasEnded)
    let turn = 1
    const command = async (text: string) => {
      turn += 1
      await ada.ask(executeTask, { params: { taskId: id }, body: { command: text, withSecrets: true } })
      await ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.turn === turn)
    }
    await command(plant)
    await ada.ask(updateProjectSettings, { params: { projectId }, body: { variables: steering } })
    await ada.ask(setProjectSecret, {
      params: { projectId, name: 'PERLLIB' },
      body: { value: '/workspace/p', forAgent: true },
    })
    await command('true')
    await command(
      `perl -e 'print "the own one\\n"'; grep -a . /proc/1/environ | tr '\\0' '\\n' | sed 's/^/first: /'`,
    )

    const tree = join(product.dataDir, 'runner/tasks', id, 'tree')
    const steered = (await readFile(join(tree, 'steered'), 'utf8')).trim().split('\n')
    const [only = '', ...more] = steered.map((line) => line.split('\t'))
    expect(more).toEqual([])
    expect(only.slice(1)).toEqual([
      '0000000000000000',
      '0000000000000000',
      '1',
      expect.stringContaining('the own one'),
    ])
    expect(Number(only[0])).toBeGreaterThan(0)

    const { output } = await ada.ask(getTerminal, { params: { taskId: id } })
    const terminal = output.map(({ content }) => content).join('')
    expect(terminal).toContain('the own one')
    expect(terminal).not.toMatch(/^first: /m)
  })
})
