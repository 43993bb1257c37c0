/** The toolchains of this machine, found as a server finds them: each builds and runs a program in a real sandbox. */
import { homedir } from 'node:os'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toolchainNames } from '../../../services/platform/config/valueTypes.ts'
import { findProgram } from '../../../services/runner/sandbox/bubblewrap/findProgram.ts'
import type { Workspace } from '../../../services/runner/workspace/workspace.ts'
import { note as reported } from '../../report/notes.ts'
import { findTestSandbox } from '../../runner/testSandbox.ts'
import { makeScene, type Scene } from '../../runner/workspaceScene.ts'

const environment = process.env
const { sandbox, note, close } = await findTestSandbox(undefined, undefined, {
  environment,
  allowed: toolchainNames,
})
afterAll(close)

const limits = { memoryBytes: 6 * 1024 ** 3, processes: 1_024, fileSizeBytes: 1024 ** 3, wallMs: 240_000 }

/** The program that a script needs, the script, and what it prints at its end. */
const uses: Readonly<Record<string, readonly [needs: string, script: string, prints: RegExp]>> = {
  'java, of a source file': [
    'java',
    `cat > Main.java <<'END'
import java.security.MessageDigest;
public class Main {
  public static void main(String[] args) throws Exception {
    System.out.println(MessageDigest.getInstance("SHA-256").getDigestLength() + " bytes");
    System.out.println(javax.net.ssl.SSLContext.getDefault().getProtocol());
  }
}
END
java Main.java`,
    /^32 bytes\nDefault\n$/,
  ],
  'javac, and what it made': [
    'javac',
    `cat > Made.java <<'END'
public class Made { public static void main(String[] args) { System.out.println("compiled"); } }
END
javac Made.java && java -cp . Made`,
    /^compiled\n$/,
  ],
  'maven, which reads its settings and its own repository': [
    'mvn',
    `mvn -v | grep -o 'Apache Maven [0-9]*' && mkdir -p pom && cd pom &&
     echo '<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>b</artifactId><version>1</version><packaging>pom</packaging></project>' > pom.xml &&
     mvn -o -q validate >/dev/null && echo validated`,
    /^Apache Maven \d+\nvalidated\n$/,
  ],
  'go, with a build': [
    'go',
    `mkdir -p go && cd go && printf 'module example.com/a\\n\\ngo 1.18\\n' > go.mod &&
     printf 'package main\\n\\nfunc main() { println(add(40, 2)) }\\n\\nfunc add(a, b int) int { return a + b }\\n' > main.go &&
     CGO_ENABLED=0 go build -o main . && ./main 2>&1`,
    /^42\n$/,
  ],
  'cargo and rustc': [
    'cargo',
    `rustc --version | cut -d' ' -f1 && cargo new --vcs none --quiet hello 2>&1 && cd hello && cargo run --quiet --offline`,
    /^rustc\nHello, world!\n$/,
  ],
  'python3, with a virtual environment': [
    'python3',
    `python3 -c 'import ssl, sqlite3, ctypes, sys; print(sys.version_info >= (3, 6))' && python3 -m venv --without-pip venv && venv/bin/python -c 'print("in it")'`,
    /^True\nin it\n$/,
  ],
  'node and npm': [
    'npm',
    `node -p '6 * 7' && echo '{"name":"a","version":"1.0.0","scripts":{"said":"echo said"}}' > package.json && npm run --silent said`,
    /^42\nsaid\n$/,
  ],
  'chromium, with a screenshot of a page with text': [
    'chromium',
    `echo '<h1 style="font-family: sans-serif">Hello</h1>' > page.html &&
     chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --no-first-run \\
       --screenshot=/workspace/page.png --window-size=200,100 file:///workspace/page.html >/dev/null 2>&1
     head -c 8 page.png | tail -c 7 | head -c 3`,
    /^PNG$/,
  ],
}

/** Files of the server's user, and of this machine, that may hold credentials. */
const credentials = [
  ...[
    '.npmrc',
    '.netrc',
    '.pypirc',
    '.gitconfig',
    '.m2/settings.xml',
    '.gradle/gradle.properties',
    '.cargo/credentials.toml',
    '.cargo/credentials',
    '.cargo/config.toml',
    '.config/go/env',
    '.config/pip/pip.conf',
  ].map((path) => `${homedir()}/${path}`),
  '/etc/maven/settings.xml',
  '/etc/npmrc',
  '/etc/pip.conf',
  '/etc/gitconfig',
  '/etc/shadow',
]

describe.skipIf(!sandbox)(`in a sandbox${note}`, () => {
  let scene: Scene
  let workspace: Workspace
  beforeAll(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
    workspace = await scene.prepare()
  })
  afterAll(() => scene?.remove())

  async function shell(script: string) {
    if (!sandbox) throw new Error('there is no sandbox')
    const running = sandbox.run({
      command: ['bash', '-c', script],
      env: {},
      workspace,
      readOnly: [],
      sockets: [],
      stdin: 'ignore',
      limits,
    })
    const [stdout, stderr, exit] = await Promise.all([
      text(running.stdout),
      text(running.stderr),
      running.exited,
    ])
    return { stdout, stderr, code: exit.code }
  }

  test.for(Object.entries(uses))('%s', async ([what, [needs, script, prints]], { skip }) => {
    if ((await findProgram(needs, environment['PATH'] ?? '')) === undefined) {
      reported(`${what}, in a sandbox`, `nothing: this machine has no ${needs}`)
      skip(`this machine has no ${needs}`)
    }
    expect(await shell(script)).toMatchObject({ stdout: expect.stringMatching(prints), code: 0 })
  })

  test('none of the files that may hold credentials is seen', async () => {
    const { stdout } = await shell(
      `for path in ${credentials.join(' ')}; do test -s $path && echo $path; done`,
    )
    expect(stdout).toBe('')
  })
})
