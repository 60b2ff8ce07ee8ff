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
    #if canImport(FoundationEssentials)
        public import FoundationEssentials
    #else
        public import Foundation
    #endif

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

    extension ResourceClient.Failure: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }

    extension ResourceClient.Refusal: LocalizedError {
        /// The description as a sentence, for alerts.
        public var errorDescription: String? { "\(Sentence(self))" }
    }
#endif
