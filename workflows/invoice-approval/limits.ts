/** What a batch must keep to: pure data, so that whoever admits a batch refuses what the workflow would refuse. */

/** Most invoices in a batch. It bounds the children that one history starts; larger inputs are paged by the client. */
export const batchSizeMax = 8;

/** What operation keys and workflow ids can carry unchanged: no colon, which separates their parts, and no slash. */
export const keyPattern = /^[A-Za-z0-9._~@+=-]{1,100}$/;
