import { ApiError, type Issue } from "../errors/index.ts";
import { invalidRequest, pathText } from "../schema/index.ts";
import type { Admission } from "../server/endpoint.ts";

type Path = Issue["path"];

/**
 * Runs checks of a chat request that was made from another form's body. Refusals name fields as the caller does. Throws
 * what the checks throw.
 */
export async function withRenamedFields<T>(rename: (path: Path) => Path, checks: () => T | Promise<T>): Promise<T> {
	try {
		return await checks();
	} catch (thrown) {
		throw thrown instanceof ApiError ? renameError(thrown, rename) : thrown;
	}
}

/** Does the same for an admission, and for refusals of its hold. */
export async function admitRenamed(
	rename: (path: Path) => Path,
	admit: () => Admission | Promise<Admission>,
): Promise<Admission> {
	const admission = await withRenamedFields(rename, admit);
	return {
		model: admission.model,
		rate: admission.rate,
		hold: (context) => withRenamedFields(rename, () => admission.hold(context)),
		work: (settlement) => admission.work(settlement),
	};
}

function renameError(error: ApiError, rename: (path: Path) => Path): ApiError {
	const { param, issues } = error.options;
	if (param === undefined) return error;
	const name = pathText(rename(pathOfText(param)));
	if (name === param) return error;
	const renamedIssues = issues?.map((issue) => ({ ...issue, path: rename(issue.path) }));
	const message = renamedIssues === undefined ? error.message.replace(param, () => name) : invalidRequest(renamedIssues).message;
	return new ApiError(error.code, {
		...error.options,
		message,
		param: name,
		...(renamedIssues ? { issues: renamedIssues } : {}),
	});
}

/** Returns the parts of a path such as `messages[0].content`. */
function pathOfText(text: string): (string | number)[] {
	return text
		.split(/[.[\]]+/)
		.filter((part) => part !== "")
		.map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part));
}
