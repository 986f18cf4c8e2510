/**
 * Anthropic's own tools. Tools that the client runs are sent to a model as functions, since their inputs are documented
 * (Anthropic's docs, "Bash tool", "Text editor tool", "Memory tool", "Computer use tool"). Tools that Anthropic's
 * servers run are not supported here.
 */
import type { MessageTool } from "./schema.ts";

interface ClientTool {
	readonly description: string;
	readonly parameters: object;
}

const text = (description: string) => ({ type: "string", description });
const integers = (description: string, length: number) => ({
	type: "array",
	items: { type: "integer" },
	minItems: length,
	maxItems: length,
	description,
});

const BASH: ClientTool = {
	description: "Runs a command in a persistent bash session and gives its output.",
	parameters: {
		type: "object",
		properties: {
			command: text("The command to run. Required unless the session is restarted"),
			restart: { type: "boolean", description: "True restarts the session" },
		},
	},
};

const EDITOR_COMMANDS = ["view", "create", "str_replace", "insert"];

function editor(commands: readonly string[]): ClientTool {
	return {
		description: "Views, creates and edits text files.",
		parameters: {
			type: "object",
			properties: {
				command: { type: "string", enum: commands, description: "What to do" },
				path: text("The file or folder"),
				file_text: text("Of create: the content of the file"),
				old_str: text("Of str_replace: the text to replace, which stands in the file exactly once"),
				new_str: text("Of str_replace: the text in its place; of insert in older versions: the text to insert"),
				insert_line: { type: "integer", description: "Of insert: the line after which to insert; 0 is the beginning" },
				insert_text: text("Of insert: the text to insert"),
				view_range: integers("Of view: the first and the last line; -1 is the end of the file", 2),
			},
			required: ["command", "path"],
		},
	};
}

const MEMORY: ClientTool = {
	description:
		"Keeps what is worth remembering in files below /memories, over conversations. View /memories before a task; write down progress.",
	parameters: {
		type: "object",
		properties: {
			command: {
				type: "string",
				enum: ["view", "create", "str_replace", "insert", "delete", "rename"],
				description: "What to do",
			},
			path: text("The file or folder, below /memories"),
			view_range: integers("Of view: the first and the last line", 2),
			file_text: text("Of create: the content of the file"),
			old_str: text("Of str_replace: the text to replace"),
			new_str: text("Of str_replace: the text in its place"),
			insert_line: { type: "integer", description: "Of insert: the line after which to insert" },
			insert_text: text("Of insert: the text to insert"),
			old_path: text("Of rename: the present path"),
			new_path: text("Of rename: the new path"),
		},
		required: ["command"],
	},
};

const ACTIONS = [
	"key",
	"type",
	"mouse_move",
	"left_click",
	"left_click_drag",
	"right_click",
	"middle_click",
	"double_click",
	"screenshot",
	"cursor_position",
];
const LATER_ACTIONS = ["left_mouse_down", "left_mouse_up", "triple_click", "scroll", "hold_key", "wait"];

function computer({ type, display_width_px: width, display_height_px: height }: MessageTool): ClientTool {
	const isFirst = type === "computer_20241022";
	const zooms = type !== "computer_20241022" && type !== "computer_20250124";
	const size = typeof width === "number" && typeof height === "number" ? ` The screen has ${width} x ${height} pixels.` : "";
	return {
		description: `Uses a computer by mouse, keyboard and screenshots.${size}`,
		parameters: {
			type: "object",
			properties: {
				action: {
					type: "string",
					enum: [...ACTIONS, ...(isFirst ? [] : LATER_ACTIONS), ...(zooms ? ["zoom"] : [])],
					description: "What to do",
				},
				coordinate: integers("x and y in pixels, from the upper left corner", 2),
				start_coordinate: integers("Of left_click_drag: where it begins", 2),
				text: text("The text to type, or the key to press; of clicks and scroll: a key that is held"),
				scroll_direction: { type: "string", enum: ["up", "down", "left", "right"], description: "Of scroll" },
				scroll_amount: { type: "integer", description: "Of scroll: the clicks of the wheel" },
				duration: { type: "number", description: "Of hold_key and wait: seconds" },
				...(zooms ? { region: integers("Of zoom: x and y of the upper left and the lower right corner", 4) } : {}),
			},
			required: ["action"],
		},
	};
}

/** Returns the function for a tool type that the client runs; null for other types. */
export function clientTool(tool: MessageTool): ClientTool | null {
	const family = /^(bash|text_editor|memory|computer)_\d{8}$/.exec(tool.type ?? "")?.[1];
	switch (family) {
		case "bash":
			return BASH;
		case "text_editor":
			// Later versions of the tool have no undo.
			return editor(/_(?:20241022|20250124)$/.test(tool.type ?? "") ? [...EDITOR_COMMANDS, "undo_edit"] : EDITOR_COMMANDS);
		case "memory":
			return MEMORY;
		case "computer":
			return computer(tool);
		default:
			return null;
	}
}
