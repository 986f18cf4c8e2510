/** Puts the project's own `turnpike` into node_modules/.bin, where `npx --no turnpike` and scripts look. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * npm links the commands of dependencies, not those of the project itself.
 *
 * @param {string} root
 */
export function linkOwnCommand(root) {
	const folder = join(root, "node_modules", ".bin");
	mkdirSync(folder, { recursive: true });
	if (process.platform === "win32") {
		writeFileSync(join(folder, "turnpike.cmd"), '@node "%~dp0\\..\\..\\bin\\turnpike.mjs" %*\r\n');
		return;
	}
	const link = join(folder, "turnpike");
	rmSync(link, { force: true });
	symlinkSync(join("..", "..", "bin", "turnpike.mjs"), link);
	chmodSync(join(root, "bin", "turnpike.mjs"), 0o755);
}
