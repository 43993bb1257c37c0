/** A self-signed certificate for localhost and 127.0.0.1, for servers with TLS in tests. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Creates a key and a self-signed certificate in these files; returns the reason when that fails. */
export async function selfSigned(keyFile: string, certificateFile: string): Promise<string | undefined> {
  const asked = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const named = [
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
    '-days',
    '1',
  ]
  try {
    await promisify(execFile)('openssl', [...asked, ...named, '-keyout', keyFile, '-out', certificateFile])
    return undefined
  } catch {
    return 'no openssl to make a certificate with'
  }
}
