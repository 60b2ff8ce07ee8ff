package import ACMEClient
import CounterfoilServer
package import CounterfoilStore
package import Foundation
package import HTTPListener

/// The reason why an order of a certificate has failed; its description is written for the operator.
package enum OrderFailure: Error, Sendable, CustomStringConvertible {
    /// The order has failed at the authority.
    case authority(ACMEError)
    /// The certificate that the authority has issued does not fit.
    case unfit(ServerCertificate.Refusal)
    /// The stored account key was encrypted with another server key.
    case accountKeyOfAnother
    /// The account key or the challenges could not be stored.
    case store(StoreFault)

    /// The kind of the failure, which decides how soon another order makes sense.
    package var kind: OrderBackOff.Kind {
        switch self {
        case .authority(.unreachable), .authority(.unavailable), .authority(.malformed), .store: .passing
        case .authority(.limited), .authority(.late), .unfit: .limited
        case .authority, .accountKeyOfAnother: .refused
        }
    }

    /// The time in seconds that the authority has demanded; nil if it has demanded none.
    package var retryAfter: TimeInterval? {
        if case .authority(let failure) = self { failure.retryAfter } else { nil }
    }

    /// The cause and the action to take.
    package var description: String {
        switch self {
        case .authority(.late(let failure)): "\(OrderFailure.authority(failure))\(Self.late)"
        case .authority(let failure): "\(failure)\(Self.advice(after: failure))"
        case .unfit(let refusal): "the authority issued a certificate that does not fit: \(refusal)\(Self.late)"
        case .accountKeyOfAnother:
            "the stored account key was encrypted with another server key; start the server with that key too"
        case .store(let fault): "\(fault)"
        }
    }

    private static let late =
        "; the authority may have issued a certificate, so the server waits longer before the next order"

    private static func advice(after failure: ACMEError) -> String {
        switch failure {
        case .unreachable:
            "; check the network and the setting acme-directory, and for a private authority acme-root"
        case .unavailable: "; the server tries again"
        case .refused: "; correct what it names"
        case .limited: "; the server tries again later"
        case .malformed: "; check the setting acme-directory"
        case .externalAccountRequired: "; set acme-eab-kid and acme-eab-key-file to what it has given you"
        case .notValidated(_, let challenge, _):
            "; its DNS entry must lead to this server, and the authority must reach "
                + (challenge == ACMESettings.Challenge.http.rawValue
                    ? "the address of the setting redirect-listen on port 80"
                    : "the address of the setting listen on port 443")
        case .noChallenge: "; set acme-challenge"
        case .delayed, .late: ""
        }
    }
}
