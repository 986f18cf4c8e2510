import { type CommandDef, defineCommand } from "citty";
import { EXIT_USAGE } from "../exit-codes.ts";
import { printError } from "../print.ts";
import { commandTree } from "./command-tree.ts";
import { completionScript, SHELLS } from "./scripts.ts";

/** `turnpike completion`, generated from the command definitions, so it is always complete. */
export function completionOf(root: () => CommandDef) {
	return defineCommand({
		meta: {
			name: "completion",
			description: "Print a script that completes commands and options in a shell: source <(turnpike completion bash)",
		},
		args: { shell: { type: "positional", description: SHELLS.join(", "), required: true, valueHint: SHELLS.join("|") } },
		async run({ args }) {
			const shell = SHELLS.find((known) => known === args.shell);
			if (shell === undefined) {
				printError(`Expected one of ${SHELLS.join(", ")}, not ${args.shell}`);
				process.exitCode = EXIT_USAGE;
				return;
			}
			process.stdout.write(completionScript(shell, await commandTree("turnpike", root())));
		},
	});
}
