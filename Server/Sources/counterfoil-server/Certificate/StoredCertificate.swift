import ACMEClient
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The stored certificate and the failed orders, in the output of the command.
struct StoredCertificate {
    private let certificate: InstallationState.Certificate

    init(_ issued: IssuedCertificate?, failed: FailedOrders?) {
        let validity = issued.flatMap { CertificateIdentity(chain: $0.chain)?.validity }
        certificate = InstallationState.Certificate(
            authority: issued?.authority,
            validity: validity.map { DateInterval(start: $0.lowerBound, end: $0.upperBound) },
            isRenewalRequested: issued?.isRenewalRequested ?? false, failed: failed)
    }

    var document: CertificateDocument { CertificateDocument(certificate) }

    /// The lines for people.
    var lines: [String] {
        var lines: [String] = []
        if let authority = certificate.authority {
            lines.append("authority:    \(authority)")
            if let validity = certificate.validity {
                lines.append("valid from:   \(validity.start.ISO8601Format())")
                lines.append("valid until:  \(validity.end.ISO8601Format())")
            }
            if certificate.isRenewalRequested {
                lines.append("A new certificate was requested and is not there yet.")
            }
        } else {
            lines.append("There is no certificate of an authority yet.")
        }
        if let failed = certificate.failed {
            lines.append(
                (failed.count == 1 ? "An order failed at " : "\(failed.count) orders failed, most recently at ")
                    + "\(failed.failedAt.ISO8601Format()); the log of the server says why. The server orders again "
                    + "after \(failed.retryAt.ISO8601Format()).")
        }
        return lines
    }
}
