/** Workflows that ComfyUI exports for its API: files of the operator, with named inputs. */

import { readFile, stat } from "node:fs/promises";
import { isRecord } from "../../../schema/is-record.ts";
import { upstreamOffline } from "../../failures.ts";
import type { ParameterValue } from "../parameters.ts";

interface WorkflowNode {
	readonly class_type: string;
	readonly inputs: Readonly<Record<string, unknown>>;
}

export type Workflow = Readonly<Record<string, WorkflowNode>>;

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_CACHED = 100;

interface CachedWorkflow {
	readonly changedMs: number;
	readonly workflow: Workflow;
}

/** Workflows by path. A changed file is read again. */
const cache = new Map<string, CachedWorkflow>();

/** Reads a workflow. Throws UpstreamFailure (the model is offline) if the file cannot be read or is no workflow. */
export async function readWorkflow(path: string): Promise<Workflow> {
	try {
		const { mtimeMs, size } = await stat(path);
		const known = cache.get(path);
		if (known?.changedMs === mtimeMs) return known.workflow;
		if (size > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
		const workflow = checkWorkflow(JSON.parse(await readFile(path, "utf8")));
		if (cache.size >= MAX_CACHED) cache.clear();
		cache.set(path, { changedMs: mtimeMs, workflow });
		return workflow;
	} catch (error) {
		throw upstreamOffline(
			`the workflow ${path} cannot be used: ${error instanceof Error ? error.message : String(error)}`.slice(0, 300),
		);
	}
}

function checkWorkflow(parsed: unknown): Workflow {
	if (!isRecord(parsed)) throw new Error("no JSON object");
	for (const [id, node] of Object.entries(parsed)) {
		if (!isRecord(node) || typeof node.class_type !== "string" || !isRecord(node.inputs))
			throw new Error(`node ${id} has no class_type and inputs: export it for the API`);
	}
	return parsed as Workflow;
}

/**
 * Returns the workflow with inputs set. Names are a node's and its input's, such as `6.text`. Throws UpstreamFailure
 * for an unknown node.
 */
export function withInputs(workflow: Workflow, inputs: Readonly<Record<string, ParameterValue>>): Workflow {
	const changed: Record<string, WorkflowNode> = { ...workflow };
	for (const [name, value] of Object.entries(inputs)) {
		const dot = name.indexOf(".");
		const id = name.slice(0, dot);
		const node = dot > 0 ? changed[id] : undefined;
		if (node === undefined) throw upstreamOffline(`the workflow has no node for ${name}`.slice(0, 300));
		changed[id] = { ...node, inputs: { ...node.inputs, [name.slice(dot + 1)]: value } };
	}
	return changed;
}
