/// A clause as a sentence, with a capital first letter and a full stop.
///
/// Descriptions of errors are clauses, so that a program can put them behind words of its own. An alert shows them
/// alone.
struct Sentence: CustomStringConvertible {
    private let clause: String

    init(_ clause: some CustomStringConvertible) { self.clause = clause.description }

    var description: String {
        guard let first = clause.first, let last = clause.last else { return clause }
        // A name such as a URL at the start keeps its letters.
        let firstWord = clause.prefix { $0 != " " }
        let isWord = firstWord.allSatisfy { $0.isLetter || $0 == "-" || $0 == "," }
        let start = isWord ? first.uppercased() : String(first)
        return start + clause.dropFirst() + (".!?…".contains(last) ? "" : ".")
    }
}

#if canImport(Darwin)
    public import CounterfoilProtocol
    public import CounterfoilPlatform

    /// An error whose description is a clause.
    protocol ClauseError: LocalizedError, CustomStringConvertible {}

    extension ClauseError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension SignInError: LocalizedError, ClauseError {}
    extension SessionError: LocalizedError, ClauseError {}
    extension TokenStoreError: LocalizedError, ClauseError {}
    extension TransportFailure: LocalizedError, ClauseError {}
    extension AccessTarget.Refusal: LocalizedError, ClauseError {}
    extension APIOrigin.Refusal: LocalizedError, ClauseError {}
    extension ApplicationIdentifier.Refusal: LocalizedError, ClauseError {}
    extension AuthorizationCallback.Refusal: LocalizedError, ClauseError {}
    extension AuthorizationServerConfiguration.Refusal: LocalizedError, ClauseError {}
    extension ClientKey.Refusal: LocalizedError, ClauseError {}
    extension ClientMetadataDocument.Refusal: LocalizedError, ClauseError {}
    extension ClientRegistration.Refusal: LocalizedError, ClauseError {}
    extension CustomSchemeRedirectURI.Refusal: LocalizedError, ClauseError {}
    extension EndpointURL.Refusal: LocalizedError, ClauseError {}
    extension LoopbackRedirectURI.Refusal: LocalizedError, ClauseError {}
    extension RedirectOption.Refusal: LocalizedError, ClauseError {}
    extension ResourceClient.Failure: LocalizedError, ClauseError {}
    extension ResourceClient.Refusal: LocalizedError, ClauseError {}
    extension ResourceDiscovery.Refusal: LocalizedError, ClauseError {}
    extension TokenResponseRefusal: LocalizedError, ClauseError {}
    extension TokenStoreChoice.Refusal: LocalizedError, ClauseError {}
    extension RequestBody.Unreadable: LocalizedError, ClauseError {}
    extension UnsuccessfulResponse: LocalizedError, ClauseError {}
    extension UserAgent.Refusal: LocalizedError, ClauseError {}
    extension UserInfo.Refusal: LocalizedError, ClauseError {}
    extension VendorServer.Refusal: LocalizedError, ClauseError {}
    extension Issuer.Refusal: LocalizedError, ClauseError {}
    extension RedirectURI.Refusal: LocalizedError, ClauseError {}
    extension Resource.Refusal: LocalizedError, ClauseError {}
    extension Scope.Refusal: LocalizedError, ClauseError {}
#endif
