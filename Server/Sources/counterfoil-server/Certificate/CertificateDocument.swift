import ACMEClient
import CounterfoilStore
import Foundation

/// The stored certificate and the failed orders, as text and as JSON.
struct CertificateDocument: Encodable {
    private struct Failure: Encodable {
        let count: Int
        let failedAt: Date
        let nextOrderFrom: Date

        enum CodingKeys: String, CodingKey {
            case count
            case failedAt = "failed_at"
            case nextOrderFrom = "next_order_from"
        }
    }

    private let authority: String?
    private let validFrom: Date?
    private let validUntil: Date?
    private let isRenewalRequested: Bool
    private let failed: Failure?

    enum CodingKeys: String, CodingKey {
        case authority, failed
        case validFrom = "valid_from"
        case validUntil = "valid_until"
        case isRenewalRequested = "renewal_requested"
    }

    init(_ certificate: IssuedCertificate?, failed: FailedOrders?) {
        authority = certificate?.authority
        let validity = certificate.flatMap { CertificateIdentity(chain: $0.chain)?.validity }
        validFrom = validity?.lowerBound
        validUntil = validity?.upperBound
        isRenewalRequested = certificate?.isRenewalRequested ?? false
        self.failed = failed.map { Failure(count: $0.count, failedAt: $0.failedAt, nextOrderFrom: $0.retryAt) }
    }

    /// The lines for people.
    var lines: [String] {
        var lines: [String] = []
        if let authority {
            lines.append("authority:    \(authority)")
            if let validFrom { lines.append("valid from:   \(validFrom.ISO8601Format())") }
            if let validUntil { lines.append("valid until:  \(validUntil.ISO8601Format())") }
            if isRenewalRequested { lines.append("A new certificate was requested and is not there yet.") }
        } else {
            lines.append("There is no certificate of an authority yet.")
        }
        if let failed {
            lines.append(
                (failed.count == 1 ? "An order failed at " : "\(failed.count) orders failed, most recently at ")
                    + "\(failed.failedAt.ISO8601Format()); the log of the server says why. The server orders again "
                    + "after \(failed.nextOrderFrom.ISO8601Format()).")
        }
        return lines
    }
}
