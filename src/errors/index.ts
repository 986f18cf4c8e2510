/** The error table and the one error class. Promises: every status that the API answers stands in `table.ts`. */
export { ApiError, type ApiErrorOptions, type Issue } from "./api-error.ts";
export { ERROR_TABLE, type ErrorCode } from "./table.ts";
export { markUnsupported } from "./unsupported-feature.ts";
