/** The commands as plain data, from which shell completion is generated. */
import type { ArgDef, CommandDef } from "citty";
import { resolvePart } from "../resolve-part.ts";

/** What follows an option. */
export type OptionValue = "none" | "file" | "folder" | "text" | readonly string[];

export interface CommandOption {
	/** The name with its dashes. */
	readonly name: string;
	readonly description: string;
	readonly value: OptionValue;
}

export interface CommandNode {
	readonly name: string;
	readonly description: string;
	readonly options: readonly CommandOption[];
	/** The allowed values of its first argument; empty if any value is allowed. */
	readonly choices: readonly string[];
	readonly children: readonly CommandNode[];
}

/** Loads a command and all its subcommands. */
export async function commandTree(name: string, command: CommandDef): Promise<CommandNode> {
	const meta = await resolvePart(command.meta);
	const args = Object.entries((await resolvePart(command.args)) ?? {});
	const subCommands = Object.entries((await resolvePart(command.subCommands)) ?? {});
	const children: CommandNode[] = [];
	for (const [child, definition] of subCommands) {
		const resolved = await resolvePart(definition);
		if (resolved !== undefined) children.push(await commandTree(child, resolved));
	}
	return {
		name,
		description: meta?.description ?? "",
		options: args.filter(([, arg]) => arg.type !== "positional").map(([option, arg]) => optionOf(option, arg)),
		choices: args.flatMap(([, arg]) => (arg.type === "positional" ? choicesOf(arg) : [])),
		children,
	};
}

function optionOf(name: string, arg: ArgDef): CommandOption {
	return { name: `--${name}`, description: arg.description ?? "", value: takes(arg) };
}

function takes(arg: ArgDef): OptionValue {
	if (arg.type === "boolean") return "none";
	if (arg.type === "enum") return arg.options ?? "text";
	if (arg.valueHint === "FILE") return "file";
	return arg.valueHint === "DIR" ? "folder" : "text";
}

/** Reads the values of a positional argument from its hint: `bash|zsh|fish`. */
function choicesOf({ valueHint = "" }: ArgDef): string[] {
	return valueHint.includes("|") ? valueHint.split("|") : [];
}
