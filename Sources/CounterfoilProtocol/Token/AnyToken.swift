/// A token that is presented without anybody saying what kind it is.
///
/// Wire name `token`, RFC 7009 §2.1 and RFC 7662 §2.1. What `token_type_hint` says beside it is read and left aside: a token of
/// this server says what it is.
public struct AnyToken: Secret {
    /// The token as it stands on the wire.
    public let exposed: String

    /// A token of any characters.
    public init(_ text: String) { exposed = text }

    /// Reads the body of a request that asks about one token.
    public init(parsing form: FormParameters) throws(OAuthError) {
        let values = SingleValues(form)
        _ = try values["token_type_hint"]
        guard let token = try values["token"] else {
            throw OAuthError(.invalidRequest, "the parameter token is missing")
        }
        self.init(token)
    }
}
