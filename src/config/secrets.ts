/**
 * Resolves references to secrets in the configuration file: `${NAME}` is an environment variable, `${file:PATH}` the content of
 * a file, `${credential:NAME}` a credential of systemd or a secret of Docker. `$${` is a literal `${`. Other texts that start
 * with `${` are refused: taken literally, a misspelled reference would be a secret that everybody can guess.
 */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** An invalid reference; the caller adds the setting's place. */
export class SecretFault extends Error {
	override readonly name = "SecretFault";
}

const REFERENCE = /\$(\$\{|\{(?:(file|credential):([^{}]*)|([A-Za-z_][A-Za-z0-9_]*))\}|\{[^}]{0,100}\}?)/g;
/** A name in a folder that cannot lead out of it. */
const CREDENTIAL_NAME = /^(?!\.)[A-Za-z0-9._-]{1,255}$/;
/** The folder in which Docker and Podman mount secrets. */
const DOCKER_SECRETS = "/run/secrets";
const MAX_SECRET_BYTES = 65_536;

/**
 * Replaces every reference in a value.
 * @param onFile is called with each file's absolute path before it is read
 * @throws {SecretFault} if a reference is malformed, a variable is not set, or a file cannot be read, is empty, too large, or
 * not UTF-8 text
 */
export function withSecrets(value: string, env: Environment, onFile: (path: string) => void): string {
	return value.replace(REFERENCE, (_, form: string, kind?: "file" | "credential", place?: string, variable?: string) => {
		if (kind !== undefined) {
			const path = kind === "file" ? filePath(place ?? "") : credentialPath(place ?? "", env);
			onFile(path);
			return readSecret(path);
		}
		if (form === "${") return form;
		if (variable === undefined)
			// The message omits the text, which may be a part of a secret.
			throw new SecretFault(
				"a ${ that begins no reference: write ${NAME}, ${file:/path} or ${credential:NAME}, and $${ for the characters themselves",
			);
		const secret = env[variable];
		if (secret === undefined) throw new SecretFault(`environment variable ${variable} is not set`);
		return secret;
	});
}

function filePath(path: string): string {
	if (!isAbsolute(path)) throw new SecretFault(`\${file:${path}}: write an absolute path`);
	return path;
}

/** systemd gives the folder of a unit's credentials in CREDENTIALS_DIRECTORY (systemd.exec(5), Credentials). */
function credentialPath(name: string, env: Environment): string {
	if (!CREDENTIAL_NAME.test(name)) throw new SecretFault(`\${credential:${name}}: write the name of a credential, not a path`);
	return join(env.CREDENTIALS_DIRECTORY || DOCKER_SECRETS, name);
}

/** One line end at the end of the file is not part of the secret: editors and `echo` add it. */
function readSecret(path: string): string {
	let bytes: Uint8Array;
	try {
		const stats = statSync(path);
		// Reading a device or a pipe might never end.
		if (!stats.isFile()) throw new SecretFault(`${path} is not a file`);
		// The size is checked first, because reading gigabytes would block a running server.
		if (stats.size > MAX_SECRET_BYTES) throw tooLarge(path);
		bytes = readFileSync(path);
	} catch (cause) {
		if (cause instanceof SecretFault) throw cause;
		throw new SecretFault(`${path} cannot be read (${(cause as NodeJS.ErrnoException).code ?? String(cause)})`);
	}
	// Some files, such as those of /proc, report no size.
	if (bytes.length > MAX_SECRET_BYTES) throw tooLarge(path);
	let text: string;
	try {
		text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw new SecretFault(`${path} is not text in UTF-8`);
	}
	const secret = text.replace(/\r?\n$/, "");
	if (secret === "") throw new SecretFault(`${path} is empty`);
	return secret;
}

function tooLarge(path: string): SecretFault {
	return new SecretFault(`${path} is larger than ${MAX_SECRET_BYTES} bytes`);
}

/** Returns a text that changes when a file is replaced, written, or made readable. */
export function fileState(path: string): string {
	try {
		const { ino, mtimeMs, ctimeMs, size } = statSync(path);
		return `${ino} ${mtimeMs} ${ctimeMs} ${size}`;
	} catch {
		return "missing";
	}
}
