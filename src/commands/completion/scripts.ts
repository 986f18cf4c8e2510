/** Generates completion scripts for each shell. The scripts start no process, so completion takes no time. */
import type { CommandNode, CommandOption } from "./command-tree.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Every command has these. */
const HELP: CommandOption = { name: "--help", description: "Show help", value: "none" };

interface Place {
	/** The command's path, like `/accounts/create`; empty for the program itself. */
	readonly path: string;
	readonly node: CommandNode;
	readonly options: readonly CommandOption[];
}

function placesOf(node: CommandNode, path = ""): Place[] {
	const place = { path, node, options: [...node.options, HELP] };
	return [place, ...node.children.flatMap((child) => placesOf(child, `${path}/${child.name}`))];
}

/** Returns the script that completes `root.name` in a shell. */
export function completionScript(shell: Shell, root: CommandNode): string {
	const places = placesOf(root);
	return { bash, zsh, fish }[shell](root.name, places);
}

/** Returns the words that may follow at a place, without options. */
const wordsOf = ({ node }: Place): readonly string[] =>
	node.children.length > 0 ? node.children.map((child) => child.name) : node.choices;

/** Returns the paths of subcommands; any other word is an argument. */
const pathsOf = (places: readonly Place[]) =>
	places
		.filter(({ path }) => path !== "")
		.map(({ path }) => path)
		.join("|");

function bash(name: string, places: readonly Place[]): string {
	const words = places.map((place) => {
		const options = place.options.map((option) => option.name).join(" ");
		const others = wordsOf(place).join(" ");
		return `\t\t'${place.path}') options='${options}' words='${others}' ;;`;
	});
	const values = places.flatMap((place) =>
		place.options
			.filter(({ value }) => value !== "none")
			.map((option) => `\t\t'${place.path} ${option.name}') ${bashValue(option)}; return ;;`),
	);
	return `# ${name}: completion for bash, 3.2 or newer.
_${name}() {
	local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' options='' words='' index
	local IFS=$' \\t\\n'
	COMPREPLY=()
	for ((index = 1; index < COMP_CWORD; index++)); do
		case "$path/\${COMP_WORDS[index]}" in
		${pathsOf(places)}) path="$path/\${COMP_WORDS[index]}" ;;
		esac
	done
	case "$path $previous" in
${values.join("\n")}
	esac
	case "$path" in
${words.join("\n")}
	esac
	if [[ "$current" == -* ]]; then words="$options"; fi
	COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _${name} ${name}
`;
}

function bashValue({ value }: CommandOption): string {
	const files = (flag: string) => `compopt -o filenames 2>/dev/null; IFS=$'\\n'; COMPREPLY=($(compgen -${flag} -- "$current"))`;
	if (value === "file") return files("f");
	if (value === "folder") return files("d");
	return typeof value === "object" ? `COMPREPLY=($(compgen -W '${value.join(" ")}' -- "$current"))` : "COMPREPLY=()";
}

function zsh(name: string, places: readonly Place[]): string {
	const described = (word: string, description: string) => quoted(`${word.replaceAll(":", "\\:")}:${description}`);
	const cases = places.map((place) => {
		const { node, options } = place;
		const words =
			node.children.length > 0 ? node.children.map((child) => described(child.name, child.description)) : node.choices;
		const optionTexts = options.map((option) => described(option.name, option.description));
		return `\t\t'${place.path}') words=(${words.join(" ")}); options=(${optionTexts.join(" ")}) ;;`;
	});
	const values = places.flatMap((place) =>
		place.options
			.filter(({ value }) => value !== "none")
			.map((option) => `\t\t'${place.path} ${option.name}') ${zshValue(option)}; return ;;`),
	);
	return `#compdef ${name}
# ${name}: completion for zsh.
_${name}() {
	local path_='' index
	local -a options words_
	for ((index = 2; index < CURRENT; index++)); do
		case "$path_/$words[index]" in
		${pathsOf(places)}) path_="$path_/$words[index]" ;;
		esac
	done
	case "$path_ $words[CURRENT-1]" in
${values.join("\n")}
	esac
	case "$path_" in
${cases.join("\n").replaceAll(" words=(", " words_=(")}
	esac
	if [[ "$words[CURRENT]" == -* ]]; then
		_describe option options
	else
		_describe command words_
	fi
}
if [ "$funcstack[1]" = "_${name}" ]; then
	_${name} "$@"
else
	compdef _${name} ${name}
fi
`;
}

function zshValue({ value }: CommandOption): string {
	if (value === "file") return "_files";
	if (value === "folder") return "_files -/";
	return typeof value === "object" ? `compadd -- ${value.join(" ")}` : "_message value";
}

function fish(name: string, places: readonly Place[]): string {
	const lines = places.flatMap((place) => {
		const at = `complete -c ${name} -n '__${name}_at "${place.path}"'`;
		const { node } = place;
		return [
			...node.children.map((child) => `${at} -a ${child.name} -d ${fishQuoted(child.description)}`),
			...(node.children.length > 0 ? [] : node.choices.map((choice) => `${at} -a ${choice}`)),
			...place.options.map(
				(option) => `${at} -l ${option.name.slice(2)}${fishValue(option)} -d ${fishQuoted(option.description)}`,
			),
		];
	});
	return `# ${name}: completion for fish.
function __${name}_at
	set -l path ''
	for word in (commandline -opc)[2..-1]
		switch "$path/$word"
			case ${pathsOf(places).replaceAll("|", " ")}
				set path "$path/$word"
		end
	end
	test "$path" = "$argv[1]"
end
complete -c ${name} -f
${lines.join("\n")}
`;
}

function fishValue({ value }: CommandOption): string {
	if (value === "none") return "";
	if (value === "file") return " -r -F";
	if (value === "folder") return " -x -a '(__fish_complete_directories)'";
	return typeof value === "object" ? ` -x -a '${value.join(" ")}'` : " -x";
}

/** Quotes a text for zsh, as for any POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const fishQuoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
