/**
 * Certificates and timestamp authorities for tests, made by OpenSSL in a temporary folder.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const version = spawnSync('openssl', ['version']).stdout?.toString() ?? '';

/** Whether there is an OpenSSL that can do it. */
export const usable: boolean = /^OpenSSL [3-9]/.test(version);

/** For the name of what is skipped. */
export const needs: string = usable ? '' : ' (skipped: there is no OpenSSL 3 here)';

/** A certificate with its key, as names of files. */
export interface Issued {
  readonly name: string;
  readonly certificate: string;
  readonly key: string;
  readonly pem: string;
}

/** What a certificate has that is not the usual. */
export interface Traits {
  /** Arguments of `openssl genpkey`. */
  readonly key?: readonly string[];
  /** Lines of extensions, as in OpenSSL's configuration. */
  readonly extensions?: string;
  /** As YYYYMMDDHHMMSSZ. */
  readonly from?: string;
  readonly to?: string;
  readonly hash?: string;
  readonly subject?: string;
}

export const RSA: readonly string[] = ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'];
export const P256: readonly string[] = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'];
export const P384: readonly string[] = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384'];

export const CA = 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign';
export const TSA = 'keyUsage=critical,digitalSignature\nextendedKeyUsage=critical,timeStamping';

/** A folder with certificates. */
export class Workshop {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'hashtape-tsa-'));

  constructor() {
    this.write('index', '');
    this.write('index.attr', 'unique_subject = no\n');
    this.write('serial', '1000\n');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  write(name: string, content: string | Uint8Array): string {
    writeFileSync(join(this.folder, name), content);
    return name;
  }

  read(name: string): Buffer {
    return readFileSync(join(this.folder, name));
  }

  /** Runs OpenSSL; throws with its words if it fails. */
  openssl(...args: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync('openssl', args, { cwd: this.folder });
    if (status !== 0) throw new Error(`openssl ${args.join(' ')}: ${stderr.toString()}`);
    return stdout.toString();
  }

  /** A certificate by `issuer`, or one that signed itself. */
  issue(name: string, issuer: Issued | undefined, traits: Traits = {}): Issued {
    const {
      key = P256,
      extensions = TSA,
      hash = 'sha256',
      subject = `/O=hashtape/CN=${name}`,
    } = traits;
    const { from = '20200101000000Z', to = '21000101000000Z' } = traits;
    const keyFile = `${name}.key`;
    this.openssl('genpkey', ...key, '-out', keyFile);
    this.write('req.cnf', '[req]\ndistinguished_name=dn\n[dn]\n');
    this.openssl(
      'req',
      '-new',
      '-config',
      'req.cnf',
      '-key',
      keyFile,
      '-subj',
      subject,
      '-out',
      'req',
    );
    const by = issuer ?? { key: keyFile, certificate: 'none' };
    const config = this.write(
      'ca.cnf',
      [
        '[ca]',
        'default_ca=c',
        '[c]',
        'database=index',
        'serial=serial',
        'new_certs_dir=.',
        'policy=p',
        `default_md=${hash}`,
        'unique_subject=no',
        '[p]',
        'O=optional',
        'CN=supplied',
        '[x]',
        extensions,
        '',
      ].join('\n'),
    );
    const signer = issuer === undefined ? ['-selfsign'] : ['-cert', by.certificate];
    this.openssl(
      ...`ca -batch -notext -config ${config} -extensions x -in req -keyfile ${by.key}`.split(' '),
      ...signer,
      ...`-startdate ${from} -enddate ${to} -out ${name}.pem`.split(' '),
    );
    return {
      name,
      certificate: `${name}.pem`,
      key: keyFile,
      pem: this.read(`${name}.pem`).toString(),
    };
  }

  /** What `openssl ts` answers to a query. */
  reply(
    query: Uint8Array,
    signer: Issued,
    { hash = 'sha256', ess = 'sha256', chain = '' } = {},
  ): Buffer {
    this.write('serial.ts', '01\n');
    this.write('chain', chain);
    const config = this.write(
      'ts.cnf',
      [
        '[tsa]',
        'default_tsa=t',
        '[t]',
        'serial=serial.ts',
        `signer_cert=${signer.certificate}`,
        ...(chain === '' ? [] : ['certs=chain']),
        `signer_key=${signer.key}`,
        `signer_digest=${hash}`,
        'default_policy=1.2.3.4.1',
        'digests=sha256,sha384,sha512',
        'accuracy=secs:1',
        'tsa_name=yes',
        'ess_cert_id_chain=no',
        `ess_cert_id_alg=${ess}`,
        '',
      ].join('\n'),
    );
    this.write('query', query);
    this.openssl('ts', '-reply', '-config', config, '-queryfile', 'query', '-out', 'reply');
    return this.read('reply');
  }

  /** What `openssl ts -verify` says, at a time in seconds of Unix time. */
  verify(response: Uint8Array, data: Uint8Array, trusted: string, at: number): boolean {
    const config = this.write('verify.cnf', '');
    this.write('response', response);
    this.write('data', data);
    this.write('trusted', trusted);
    const args = 'ts -verify -in response -data data -CAfile trusted -untrusted trusted -attime';
    const { status } = spawnSync('openssl', [...args.split(' '), String(Math.floor(at))], {
      cwd: this.folder,
      env: { ...process.env, OPENSSL_CONF: join(this.folder, config) },
    });
    return status === 0;
  }
}
