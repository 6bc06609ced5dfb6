"""What every OpenAI-compatible endpoint shares, chat or embeddings: its clients, its errors."""
