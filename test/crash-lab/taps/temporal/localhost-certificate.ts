/**
 * A certificate for localhost that nobody trusts, and its key, made for these tests alone. It protects nothing.
 *
 * Made with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=localhost
 * -addext "subjectAltName=DNS:localhost,IP:127.0.0.1"`.
 */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUEK1d178Hh+zhVArxrUIsbKR1eiwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTIwMTAwMzAxMVoYDzIxMjYxMTA3
MDAzMDExWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAR5TbrjfG/E8vIqth8f+UgfqhgU27dF16tsrxm6OmlcjcbBvCmyZ4uM
s8P/p7ND5ttHiUVBBS3sHKRGo7tKv9a0o28wbTAdBgNVHQ4EFgQUfQPkjU4T7ml5
pjub7RSRjlMj7ZowHwYDVR0jBBgwFoAUfQPkjU4T7ml5pjub7RSRjlMj7ZowDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgHx1r9fzFg1HygHuqh8Avmhv+NTk2QwlNRM+v16CsnH4CIQCJ
ZjywKYcBNMQyEp+XY0DV6yrGcd/c72Inly4ChUEQvg==
-----END CERTIFICATE-----
`;

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5BlMhgXqqF/0T+3s
ziguotVtCgQqC3T8FmMxlEL4/AKhRANCAAR5TbrjfG/E8vIqth8f+UgfqhgU27dF
16tsrxm6OmlcjcbBvCmyZ4uMs8P/p7ND5ttHiUVBBS3sHKRGo7tKv9a0
-----END PRIVATE KEY-----
`;
