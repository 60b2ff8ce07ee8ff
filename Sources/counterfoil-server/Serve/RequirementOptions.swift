import ArgumentParser

/// The options of `serve` for what the requests of every client must have, and for the form of the responses.
struct RequirementOptions: ParsableArguments {
    @Flag(
        name: .customLong("require-pushed-requests"),
        help: "Refuse authorization requests that were not pushed (PAR, RFC 9126).")
    var requiresPushedRequests = false

    @Flag(
        name: .customLong("require-dpop-nonce"),
        help: "Refuse DPoP proofs without a nonce of this server (RFC 9449).")
    var requiresProofNonce = false

    @Flag(
        name: .customLong("lowercase-token-type"),
        help: "Send token_type as bearer in lower case, for clients that compare it as text.")
    var lowercasesTokenType = false
}
