/// A token of unknown kind, presented for revocation or introspection.
///
/// The parameter `token`, RFC 7009 §2.1 and RFC 7662 §2.1. `token_type_hint` is ignored, because the server
/// recognizes the kind of its tokens by their format.
public struct AnyToken: Secret {
    /// The token in plain text, as it is sent.
    public let exposed: String

    /// Creates a token from any string, without validation.
    public init(_ text: String) { exposed = text }

    /// Parses the body of a revocation or introspection request.
    ///
    /// - Throws: An ``OAuthError`` if `token` is missing, or `token` or `token_type_hint` is repeated.
    public init(parsing form: FormParameters) throws(OAuthError) {
        let values = SingleValues(form)
        _ = try values["token_type_hint"]
        self.init(try values.required("token"))
    }
}
