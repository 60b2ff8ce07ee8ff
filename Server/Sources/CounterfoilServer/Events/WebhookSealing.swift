import CounterfoilStore

/// The encryption of the secrets of webhooks with the current server key.
///
/// A secret that a former server key has encrypted is encrypted again, so that the former key can be given up.
struct WebhookSealing: Sendable {
    let store: any WebhookStore
    let serverKey: ServerKey

    /// Encrypts again what a former server key has encrypted.
    ///
    /// A secret that no server key decrypts stays as it is: the key may come back.
    func renew() async throws {
        for webhook in try await store.webhooks() {
            guard let current = try? serverKey.open(webhookSecret: webhook.sealedSecret, of: webhook.id) else {
                continue
            }
            let former = webhook.formerSecret.flatMap { former in
                (try? serverKey.open(webhookSecret: former.sealed, of: webhook.id)).map { (former, $0) }
            }
            guard !current.isCurrent || former?.1.isCurrent == false else { continue }
            var changed = webhook
            changed.sealedSecret = try serverKey.seal(webhookSecret: current.bytes, of: webhook.id)
            if let (record, opened) = former {
                changed.formerSecret = Webhook.FormerSecret(
                    sealed: try serverKey.seal(webhookSecret: opened.bytes, of: webhook.id), until: record.until)
            }
            try await store.replaceWebhookSecrets(of: webhook, by: changed)
        }
    }
}
