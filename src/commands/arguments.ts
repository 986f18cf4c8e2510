/** Checks the typed arguments against the command's definition, so that no misspelt word is ignored. */
import type { ArgsDef, CommandDef } from "citty";
import { resolvePart } from "./resolve-part.ts";

/** A word on the command line that the command does not accept. */
export interface Misuse {
	/** The command that was meant and its parent, for the usage text. */
	readonly command: CommandDef;
	readonly parent: CommandDef | undefined;
	readonly message: string;
}

const ASKS_FOR_USAGE = new Set(["--help", "-h"]);
const ASKS_FOR_VERSION = new Set(["--version", "-v"]);

/**
 * Returns the first error: an unknown command or option, an option without its value, an extra argument or a missing one; null
 * if there is none.
 */
export async function findMisuse(command: CommandDef, typed: readonly string[], parent?: CommandDef): Promise<Misuse | null> {
	const [first = ""] = typed;
	const asksForVersion = parent === undefined && typed.length === 1 && ASKS_FOR_VERSION.has(first);
	if (asksForVersion || typed.some((word) => ASKS_FOR_USAGE.has(word))) return null;
	const args = (await resolvePart(command.args)) ?? {};
	const subCommands = await resolvePart(command.subCommands);
	const words = new Words(typed);
	const positionals = Object.values(args).filter((arg) => arg.type === "positional").length;
	const seenOptions = new Set<string>();
	let argumentCount = 0;
	const misuse = (message: string): Misuse => ({ command, parent, message });
	for (let word = words.next(); word !== undefined; word = words.next()) {
		if (isOption(word) && !words.optionsEnded) {
			const fault = optionFault(args, word, words);
			if (fault !== null) return misuse(fault);
			seenOptions.add(word.slice(2).split("=", 1)[0] ?? "");
		} else if (subCommands !== undefined) {
			const next = Object.hasOwn(subCommands, word) ? await resolvePart(subCommands[word]) : undefined;
			return next === undefined ? misuse(`Unknown command: ${word}`) : findMisuse(next as CommandDef, words.rest(), command);
		} else if (++argumentCount > positionals) {
			return misuse(`Unexpected argument: ${word}`);
		}
	}
	if (subCommands !== undefined) return command.run === undefined ? misuse("No command was given") : null;
	const missing = missingArgument(args, argumentCount, seenOptions);
	return missing === null ? null : misuse(`Missing: ${missing}`);
}

/** Returns the first required argument or option that is missing. */
function missingArgument(args: ArgsDef, argumentCount: number, seenOptions: ReadonlySet<string>): string | null {
	let place = 0;
	for (const [name, arg] of Object.entries(args)) {
		if (arg.type === "positional") {
			if (++place > argumentCount && arg.required !== false && arg.default === undefined) return name.toUpperCase();
		} else if (arg.required === true && arg.default === undefined && !seenOptions.has(name)) return `--${name}`;
	}
	return null;
}

/** Reads the words of a command line in order; no word behind `--` is an option. */
class Words {
	readonly #words: readonly string[];
	#position = 0;
	optionsEnded = false;

	constructor(words: readonly string[]) {
		this.#words = words;
	}

	next(): string | undefined {
		const word = this.#words[this.#position++];
		if (word !== "--" || this.optionsEnded) return word;
		this.optionsEnded = true;
		return this.#words[this.#position++];
	}

	rest(): string[] {
		return this.#words.slice(this.#position);
	}
}

/** A lone `-` is an argument: standard input. */
function isOption(word: string): boolean {
	return word.startsWith("-") && word !== "-";
}

function optionFault(args: ArgsDef, word: string, words: Words): string | null {
	const [name = "", ...value] = word.split("=");
	const definitionOf = (option: string) => (Object.hasOwn(args, option) ? args[option] : undefined);
	const arg = name.startsWith("--") ? definitionOf(name.slice(2)) : undefined;
	if (arg?.type === "string" || arg?.type === "enum") {
		const seenOptions = value.length > 0 ? value.join("=") : words.next();
		return seenOptions === undefined || (seenOptions === "" && !mayBeEmpty(arg)) ? `Option ${name} needs a value` : null;
	}
	if (arg?.type === "boolean" || (name.startsWith("--no-") && definitionOf(name.slice(5))?.type === "boolean")) return null;
	return /^-[\d.]/.test(name) ? `A negative number is not allowed here: ${name}` : `Unknown option: ${name}`;
}

/** Only free text and lists may be empty; for other types an empty value is usually an unset shell variable. */
function mayBeEmpty({ valueHint }: { readonly valueHint?: string }): boolean {
	return valueHint === undefined || valueHint === "LIST";
}
