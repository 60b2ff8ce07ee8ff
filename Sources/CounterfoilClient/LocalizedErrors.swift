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

    extension SignInError: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension SessionError: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension TokenStoreError: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension TransportFailure: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension AccessTarget.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension APIOrigin.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension ApplicationIdentifier.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension AuthorizationCallback.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension AuthorizationServerConfiguration.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension ClientKey.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension ClientMetadataDocument.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension ClientRegistration.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension CustomSchemeRedirectURI.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension EndpointURL.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension LoopbackRedirectURI.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension RedirectOption.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension ResourceClient.Failure: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension ResourceClient.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension ResourceDiscovery.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension TokenResponseRefusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension TokenStoreChoice.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension RequestBody.Unreadable: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension UnsuccessfulResponse: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension UserAgent.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension UserInfo.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension VendorServer.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension Issuer.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension RedirectURI.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension Resource.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension Scope.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }
#endif
