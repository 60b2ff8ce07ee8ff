import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport

extension Stage {
    /// Stores deliveries of the only webhook, as a server does, and returns the identifier of the webhook.
    func storeWebhookDeliveries() async throws -> String {
        let path = URL(fileURLWithPath: site.dataDirectory).appendingPathComponent("counterfoil.db").path
        let store = try SQLiteStore(at: path, upgrading: false)
        guard let webhook = try await store.webhooks().first else { throw WebDriverError.notUnderstood("webhook") }
        let holder = LeaseHolder()
        for (seal, status) in [(1, 204), (2, nil), (3, 500)] {
            let attempt = WebhookAttempt(
                seal: seal, eventID: "evt_\(String(repeating: "\(seal)", count: 32))", type: "user.created",
                at: Date(), milliseconds: 7 * seal, status: status, failure: status == nil ? "timed-out" : nil,
                isResend: seal == 1)
            _ = try await store.settleWebhook(webhook.id, .resent(attempt), by: holder)
        }
        await store.close()
        return webhook.id.rawValue
    }
}
