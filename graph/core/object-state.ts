/** The one state key of an object-state graph; it holds the model. */
export const modelKey = "state";
