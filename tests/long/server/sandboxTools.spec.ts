/** Everyday tools in a real sandbox, under its filter of system calls: what agents start must run there as it does elsewhere. */
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findProgram } from '../../../services/runner/sandbox/bubblewrap/findProgram.ts'
import { findTestSandbox } from '../../runner/testSandbox.ts'
import { makeScene, testPath, type Scene } from '../../runner/workspaceScene.ts'
import type { Workspace } from '../../../services/runner/workspace/workspace.ts'

const { sandbox, note, close } = await findTestSandbox()
afterAll(close)

const limits = { memoryBytes: 2 * 1024 ** 3, processes: 256, fileSizeBytes: 1024 ** 3, wallMs: 60_000 }

/** The programs that a script needs, the script, and what it prints. */
const tools: Readonly<Record<string, readonly [needs: string, script: string, prints: RegExp]>> = {
  'npm ci, with a script of the project': [
    'npm',
    `mkdir -p app/dep && cd app &&
     echo '{"name":"dep","version":"1.0.0","main":"main.js"}' > dep/package.json && echo 'module.exports = "the dependency"' > dep/main.js &&
     (cd dep && npm pack --silent --pack-destination .. >/dev/null) && rm -r dep &&
     echo '{"name":"app","version":"1.0.0","scripts":{"postinstall":"node -p 1+1 > installed"},"dependencies":{"dep":"file:dep-1.0.0.tgz"}}' > package.json &&
     npm install --offline --package-lock-only --silent --no-audit && npm ci --offline --no-audit && node -p 'require("dep")' && cat installed`,
    /the dependency\n2\n$/,
  ],
  'gcc, and what it made': [
    'gcc',
    `printf '#include <stdio.h>\\n#include <pthread.h>\\nstatic void *run(void *of) { puts("from a thread"); return of; }\\nint main(void) { pthread_t thread; pthread_create(&thread, 0, run, 0); pthread_join(thread, 0); return 0; }\\n' > main.c && gcc -g -pthread -o main main.c && ./main`,
    /^from a thread\n$/,
  ],
  'make, with several jobs': [
    'make',
    `printf 'all: a b c\\n%%: ; @sleep 0.01; echo $@ > made-$@\\n' > Makefile && make -s -j3 && cat made-a made-b made-c`,
    /^a\nb\nc\n$/,
  ],
  'python3: threads, processes, memory shared among them, sockets': [
    'python3',
    `/usr/bin/python3 -c '
import asyncio, multiprocessing, subprocess, sqlite3, tempfile, threading
from multiprocessing import shared_memory
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(abs, [-1, -2]))
    held = shared_memory.SharedMemory(create=True, size=100000); held.buf[0] = 7; print(held.buf[0]); held.close(); held.unlink()
    print(subprocess.check_output(["echo", "a child"]).decode().strip())
    async def main():
        server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()); print(await reader.read()); server.close()
    asyncio.run(main())
    print(sqlite3.connect("x.db").execute("select 1").fetchone())
'`,
    /^\[1, 2\]\n7\na child\nb''\n\(1,\)\n$/,
  ],
  'python3: room for a file in advance, which is written where the kernel may not set it aside': [
    'python3',
    `/usr/bin/python3 -c '
import os
room = os.open("room", os.O_RDWR | os.O_CREAT); os.posix_fallocate(room, 0, 1000000); held = os.fstat(room); print(held.st_size, held.st_blocks * 512 >= 1000000)
'`,
    /^1000000 True\n$/,
  ],
  strace: [
    'strace',
    `strace -f -e trace=execve -o trace sh -c 'true; /bin/true' && grep -c execve trace`,
    /^2\n$/,
  ],
  'gdb, on a program that runs': [
    'gdb',
    `gdb -q -batch -ex 'break run' -ex run -ex 'info threads' -ex 'print 6 * 7' -ex kill ./main 2>&1`,
    /Thread[^]*\$1 = 42/,
  ],
  'node: workers, memory shared by them, children, a watcher, the network of the sandbox': [
    'node',
    `cat > main.mjs <<'END'
import { Worker, isMainThread, workerData } from 'node:worker_threads'
import { execFileSync, fork } from 'node:child_process'
import { createServer } from 'node:http'
import { watch, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
if (!isMainThread) Atomics.add(new Int32Array(workerData), 0, 1)
else {
  const shared = new SharedArrayBuffer(4)
  await Promise.all([1, 2, 3, 4].map(() => new Promise((done) => new Worker(new URL(import.meta.url), { workerData: shared }).on('exit', done))))
  console.log(new Int32Array(shared)[0], execFileSync('echo', ['child']).toString().trim(), cpus().length > 0)
  const server = createServer((_, answer) => answer.end('served')).listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  console.log(await (await fetch('http://127.0.0.1:' + server.address().port)).text())
  server.close()
  const watcher = watch('.')
  const changed = new Promise((done) => watcher.once('change', done)); writeFileSync('seen', ''); await changed
  watcher.close()
  console.log('watched')
}
END
node main.mjs`,
    /^4 child true\nserved\nwatched\n$/,
  ],
  'git: a clone, a branch, a worktree, a rebase, packing': [
    'git',
    `git clone -q . ../tmp/clone && cd /tmp/clone && git switch -qc mine && echo x > x && git add x && git -c user.name=a -c user.email=a@b commit -qm x &&
     git worktree add -q ../beside && git -c user.name=a -c user.email=a@b rebase -q HEAD~1 && git gc -q && git fsck --no-progress && git log --oneline | wc -l`,
    /^2\n$/,
  ],
  'what locks, maps, sends descriptors and waits as databases do': [
    'perl',
    `perl -MFcntl=:flock -MSocket -MIPC::SysV=IPC_PRIVATE,IPC_RMID,S_IRUSR,S_IWUSR -e '
       open my $f, ">", "lock"; flock $f, LOCK_EX or die; socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die;
       my $id = shmget(IPC_PRIVATE, 56, S_IRUSR | S_IWUSR); defined $id or die "shmget $!"; shmwrite($id, "held", 0, 4) or die; shmread($id, my $got, 0, 4) or die; shmctl($id, IPC_RMID, 0) or die; print "$got\\n";
       my $s = semget(IPC_PRIVATE, 17, S_IRUSR | S_IWUSR); defined $s or die "semget $!"; semctl($s, 0, IPC_RMID, 0) or die; print "fine\\n"'`,
    /^held\nfine\n$/,
  ],
}

describe.skipIf(!sandbox)(`in a sandbox${note}`, () => {
  let scene: Scene
  let workspace: Workspace
  beforeAll(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
    workspace = await scene.prepare()
  })
  afterAll(() => scene?.remove())

  test.for(Object.entries(tools))('%s', async ([, [needs, script, prints]], { skip }) => {
    if ((await findProgram(needs, testPath)) === undefined) skip(`no ${needs}`)
    if (!sandbox) return
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
    expect({ stdout, stderr, code: exit.code }).toMatchObject({
      stdout: expect.stringMatching(prints),
      code: 0,
    })
  })
})
