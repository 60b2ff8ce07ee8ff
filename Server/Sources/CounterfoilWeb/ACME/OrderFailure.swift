import CounterfoilServer
package import CounterfoilStore
package import Foundation

/// The reason why an order of a certificate has failed; its description is written for the operator.
package indirect enum OrderFailure: Error, Sendable, CustomStringConvertible {
    /// A step of an order.
    package enum Step: String, Sendable {
        case directory, nonce, account, order, authorization, challenge, finalization, certificate
        case renewalInformation = "renewal information"
    }

    /// The authority gave no response.
    case unreachable(Step, reason: String)
    /// The authority has failed itself (a status of 500 or above).
    case unavailable(Step, AuthorityProblem, retryAfter: TimeInterval?)
    /// The authority has refused a request.
    case refused(Step, AuthorityProblem, retryAfter: TimeInterval?)
    /// A limit of the authority was reached.
    case limited(Step, AuthorityProblem, retryAfter: TimeInterval?)
    /// A response of the authority is not what RFC 8555 says.
    case malformed(Step, String)
    /// The authority requires an account that is bound to one that it knows already.
    case externalAccountRequired
    /// The authority could not validate a host.
    case notValidated(host: String, challenge: String, AuthorityProblem?)
    /// The authority does not validate a host by the type of challenge of the settings.
    case noChallenge(host: String, challenge: String, offered: [String])
    /// The order was not done in time.
    case delayed(Step)
    /// The certificate that the authority has issued does not fit.
    case unfit(ServerCertificate.Refusal)
    /// The stored account key was encrypted with another server key.
    case accountKeyOfAnother
    /// The account key or the challenges could not be stored.
    case store(StoreFault)
    /// A failure when the authority may have issued the certificate already, which counts against its limits.
    case late(OrderFailure)

    /// The kind of the failure, which decides how soon another order makes sense.
    package var kind: OrderBackOff.Kind {
        switch self {
        case .unreachable, .unavailable, .malformed, .store: .passing
        case .refused, .delayed, .externalAccountRequired, .notValidated, .noChallenge, .unfit, .accountKeyOfAnother:
            .refused
        case .limited, .late: .limited
        }
    }

    /// Whether the same request can succeed soon.
    var isPassing: Bool {
        switch self {
        case .unreachable, .unavailable, .malformed, .limited: true
        default: false
        }
    }

    /// The time in seconds that the authority has demanded; nil if it has demanded none.
    package var retryAfter: TimeInterval? {
        switch self {
        case .unavailable(_, _, let time), .refused(_, _, let time), .limited(_, _, let time): time
        case .late(let failure): failure.retryAfter
        default: nil
        }
    }

    /// The cause and the action to take.
    package var description: String {
        switch self {
        case .unreachable(let step, let reason):
            "cannot reach the authority (\(step.rawValue): \(reason)); check the network and the setting acme-directory, "
                + "and for a private authority acme-root"
        case .unavailable(let step, let problem, _):
            "the authority failed (\(step.rawValue): \(problem)); the server tries again"
        case .refused(let step, let problem, _):
            "the authority refused the request (\(step.rawValue): \(problem)); correct what it names"
        case .limited(let step, let problem, _):
            "a limit of the authority was reached (\(step.rawValue): \(problem)); the server tries again later"
        case .malformed(let step, let reason):
            "the response of the authority is invalid (\(step.rawValue): \(reason)); check the setting acme-directory"
        case .externalAccountRequired:
            "the authority requires an account of yours; set acme-eab-kid and acme-eab-key-file to what it has given you"
        case .notValidated(let host, let challenge, let problem):
            "the authority could not validate \(host) by \(challenge) (\(problem.map { "\($0)" } ?? "no reason given")); "
                + "its DNS entry must lead to this server, and the authority must reach "
                + (challenge == ACMESettings.Challenge.http.rawValue
                    ? "the address of the setting redirect-listen on port 80"
                    : "the address of the setting listen on port 443")
        case .noChallenge(let host, let challenge, let offered):
            "the authority does not validate \(host) by \(challenge), but by \(offered.joined(separator: ", ")); set "
                + "acme-challenge"
        case .delayed(let step): "the authority did not complete the order in time (\(step.rawValue))"
        case .unfit(let refusal): "the authority issued a certificate that does not fit: \(refusal)"
        case .accountKeyOfAnother:
            "the stored account key was encrypted with another server key; start the server with that key too"
        case .store(let fault): "\(fault)"
        case .late(let failure):
            "\(failure); the authority may have issued a certificate, so the server waits longer before the next order"
        }
    }
}
