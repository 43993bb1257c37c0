/** Connections to TCP ports on which processes of a sandbox listen. */
import { once } from 'node:events'
import { Duplex } from 'node:stream'
import type { SandboxedProcess } from './port.ts'

/**
 * Connects to a port of the sandbox's loopback; `undefined` when that fails, as when nothing listens there. The connection ends with the sandbox.
 * Throws `CannotStart`. The data from the connection is not trusted, since any process of the sandbox can listen.
 */
export async function connectToPort(
  sandbox: Pick<SandboxedProcess, 'exec'>,
  port: number,
): Promise<Duplex | undefined> {
  const program = await sandbox.exec({ command: ['perl', '-e', script, String(port)], env: {} })
  const { stdin, stdout, stderr } = program
  stderr.resume()
  const begun = once(stdout, 'readable').then(() => stdout.read(1) !== null)
  if (!(await Promise.race([begun.catch(() => false), program.exited.then(() => false)]))) {
    program.kill()
    return undefined
  }
  const connection = Duplex.from({ readable: stdout, writable: stdin })
  connection.on('close', program.kill)
  connection.on('error', program.kill)
  return connection
}

/** A script that prints a character once it is connected. Then it copies bytes both ways until the listener closes the connection. */
const script = `
use Socket qw(:DEFAULT IN6ADDR_LOOPBACK pack_sockaddr_in6);
my $port = shift @ARGV;
my ($socket, $isConnected);
for my $way ([AF_INET, pack_sockaddr_in($port, INADDR_LOOPBACK)], [AF_INET6, pack_sockaddr_in6($port, IN6ADDR_LOOPBACK)]) {
  socket($socket, $way->[0], SOCK_STREAM, 0) or next;
  last if $isConnected = connect($socket, $way->[1]);
}
exit 1 unless $isConnected;
syswrite(STDOUT, '+');
sub copy {
  my ($from, $to) = @_;
  while (my $count = sysread($from, my $part, 65536)) {
    for (my $at = 0; $at < $count;) { $at += syswrite($to, $part, $count - $at, $at) || exit }
  }
}
my $child = fork;
exit 1 unless defined $child;
if (!$child) { copy(*STDIN, $socket); shutdown($socket, 1); exit }
copy($socket, *STDOUT);
`
