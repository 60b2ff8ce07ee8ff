package import Foundation

/// The reason why an order of a certificate has failed.
package indirect enum ACMEError: Error, Sendable, CustomStringConvertible {
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
    /// A failure when the authority may have issued the certificate already, which counts against its limits.
    case late(ACMEError)

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

    /// The cause.
    package var description: String {
        switch self {
        case .unreachable(let step, let reason): "cannot reach the authority (\(step.rawValue): \(reason))"
        case .unavailable(let step, let problem, _): "the authority failed (\(step.rawValue): \(problem))"
        case .refused(let step, let problem, _): "the authority refused the request (\(step.rawValue): \(problem))"
        case .limited(let step, let problem, _): "a limit of the authority was reached (\(step.rawValue): \(problem))"
        case .malformed(let step, let reason):
            "the response of the authority is invalid (\(step.rawValue): \(reason))"
        case .externalAccountRequired: "the authority requires an account of yours"
        case .notValidated(let host, let challenge, let problem):
            "the authority could not validate \(host) by \(challenge) (\(problem.map { "\($0)" } ?? "no reason given"))"
        case .noChallenge(let host, let challenge, let offered):
            "the authority does not validate \(host) by \(challenge), but by \(offered.joined(separator: ", "))"
        case .delayed(let step): "the authority did not complete the order in time (\(step.rawValue))"
        case .late(let failure): "\(failure); the authority may have issued a certificate"
        }
    }
}
