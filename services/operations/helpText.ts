/** The help text of `npm start -- --help`, up to the table of variables, which `describeVariables` adds. */
export const usage = `Usage: npm start -- [--repo <path or git URL>]... [--help]
       npm start -- jobs [requeue <id>] [--data <folder>]
       npm start -- quarantine [list | inspect <stream> | release <stream>] [--data <folder>]
       npm start -- verify [--data <folder>]
       npm start -- key [--data <folder>]
       npm start -- seals [new-key] [--data <folder>]
       npm start -- rebuild [<read model>] [--data <folder>]
       npm start -- backup <folder> [--with-key] [--data <folder>]
       npm start -- restore <folder> [--data <folder>]
       npm start -- restored [--data <folder>]
       npm start -- migrate [--data <folder>]

  --repo <path or git URL>  imports a repository into the local code host, under ada; repeat it for more
  --help                    shows this help
  jobs                      lists the jobs that were set aside, and exits
  jobs requeue <id>         queues one of them again, and exits
  quarantine list           lists the streams that were set aside, and why, while Flightdeck runs or not, and exits
  quarantine inspect <stream>  shows what is stored where the stream cannot be read, and exits
  quarantine release <stream>  puts a repaired stream back in use, and exits
  verify                    checks every event of the log, reports what is wrong and where, and exits; the exit code is 1 if anything is
  key                       shows the fingerprints and the keys that the log is sealed with, newest first, while Flightdeck runs or not, and exits
  seals                     shows how far the log is sealed, and the keys that it is sealed with, and exits
  seals new-key             makes a new key that signs from now on, and exits
  rebuild                   rebuilds all read models from the log, or the one you name, and exits when that is done
  backup <folder>           backs up the data folder while Flightdeck runs, checks the copy, and exits; --with-key includes the master key
  restore <folder>          creates a new data folder from a backup, checks it, and exits
  restored                  says that the log of shared engines was put back from a backup, before anything else goes on with it, and ends
  migrate                   carries the log, keys and blobs of a stopped Flightdeck into EventStoreDB and MongoDB, compares both ends, and exits; run again, it goes on
  --data <folder>           uses this data folder instead of DATA_DIR

Environment variables:
`

/** The lines of the help text about one command; for an unknown command, the lines that show how each command is called. */
export function usageOf(command: string): string {
  const lines = usage.split('\n')
  const isOf = (line: string) => line.includes(`npm start -- ${command} `) || line.startsWith(`  ${command} `)
  const found = lines.filter(isOf)
  if (found.length > 0) return found.join('\n')
  return lines.filter((line) => line.includes('npm start --')).join('\n')
}
