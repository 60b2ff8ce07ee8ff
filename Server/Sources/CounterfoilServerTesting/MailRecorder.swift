package import CounterfoilConsole
@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilServer
import CounterfoilStore
import Foundation

/// A sender that records the mails, and answers as a test says.
package final class MailRecorder: MailSender {
    private let state = Mutex<(mails: [OutgoingMail], outcome: MailOutcome)>(([], .accepted))

    package init() {}

    package var mails: [OutgoingMail] { state.withLock { $0.mails } }

    package func answers(_ outcome: MailOutcome) { state.withLock { $0.outcome = outcome } }

    package func send(_ mail: OutgoingMail) async -> MailOutcome {
        state.withLock { state in
            state.mails.append(mail)
            return state.outcome
        }
    }
}

extension OutgoingMail {
    /// The path and query of the link, which the user opens; nil for a mail without a link.
    package func linkPath(at issuer: Issuer) -> String? {
        page.link.map { String($0.address.dropFirst(issuer.origin.count)) }
    }
}

extension EmailPage {
    /// The fields of the page's forms.
    package func form(_ decision: String, email: String? = nil) -> FormParameters {
        var form = FormParameters(["ticket": ticket, "decision": decision])
        form.append(Self.field, ifPresent: email)
        form.append("token", ifPresent: token)
        return form
    }
}
