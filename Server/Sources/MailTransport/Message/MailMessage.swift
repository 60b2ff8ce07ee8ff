package import Foundation

/// A mail to one recipient, as plain text and as HTML (RFC 5322, RFC 2046 §5.1.4).
package struct MailMessage: Sendable, Hashable {
    package var id: MessageID
    package var sender: MailAddress
    /// The display name of the sender.
    package var senderName: HeaderText
    package var recipient: MailAddress
    package var subject: HeaderText
    /// The time in the field `Date`, which stays the same when the mail is sent again.
    package var date: Date
    /// The language tag of the texts, such as `de`.
    package var language: HeaderText
    package var plainText: String
    package var html: String

    package init(
        id: MessageID, sender: MailAddress, senderName: HeaderText, recipient: MailAddress, subject: HeaderText,
        date: Date, language: HeaderText, plainText: String, html: String
    ) {
        self.id = id
        self.sender = sender
        self.senderName = senderName
        self.recipient = recipient
        self.subject = subject
        self.date = date
        self.language = language
        self.plainText = plainText
        self.html = html
    }

    /// The bytes of the message, whose lines are ASCII, end with a carriage return and a line feed, and have at most
    /// 76 characters, apart from addresses and identifiers.
    package var bytes: [UInt8] {
        var bytes = Array((fields.map { $0 + "\r\n" }.joined() + "\r\n").utf8)
        for (type, text) in [("text/plain", plainText), ("text/html", html)] {
            let head = """
                --\(boundary)\r
                Content-Type: \(type); charset=utf-8\r
                Content-Transfer-Encoding: quoted-printable\r
                \r\n
                """
            bytes += Array(head.utf8) + QuotedPrintable.encode(text)
        }
        return bytes + Array("--\(boundary)--\r\n".utf8)
    }

    private var fields: [String] {
        [
            "Date: \(Self.text(of: date))",
            "From: \(senderName.phrase)\r\n <\(sender)>",
            "To: <\(recipient)>",
            "Subject: \(subject.unstructured)",
            "Message-ID: \(id)",
            "MIME-Version: 1.0",
            // RFC 3834 §5: no answer such as a notice of absence follows.
            "Auto-Submitted: auto-generated",
            "Content-Language: \(language.unstructured)",
            "Content-Type: multipart/alternative;\r\n boundary=\"\(boundary)\"",
        ]
    }

    /// A line that no quoted-printable body contains, because each `=` in one is followed by a hexadecimal digit or by
    /// the end of the line (RFC 2045 §6.7).
    private var boundary: String { "=_\(id.name)" }

    /// Formats a time as `date-time` in UTC (RFC 5322 §3.3).
    static func text(of date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.weekday, .day, .month, .year, .hour, .minute, .second], from: date)
        func two(_ number: Int?) -> String { (number ?? 0) < 10 ? "0\(number ?? 0)" : "\(number ?? 0)" }
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return days[(parts.weekday ?? 1) - 1] + ", \(parts.day ?? 1) " + months[(parts.month ?? 1) - 1]
            + " \(parts.year ?? 1970) \(two(parts.hour)):\(two(parts.minute)):\(two(parts.second)) +0000"
    }
}
